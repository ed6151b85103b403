//===- Block.h - register-blocked matmul of a few rows --------------------===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_BLOCK_H
#define DLC_RUNTIME_LIBRARY_SIMD_BLOCK_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

/// Accumulates a register-blocked matmul in `sums`: R rows by C vectors of columns, with a
/// reduction dimension of size `depth`. Element k of row r of the left operand is a[r * aRow + k *
/// aColumn]. The column vectors of the right operand's row k begin at b[k * bRow].
template <int V, int R, int C>
DLC_INLINE void addProducts(const float *a, int64_t aRow, int64_t aColumn, const float *b,
                            int64_t bRow, int64_t depth, Vec<V> (&sums)[R][C]) {
  auto step = [&](const float *from, const float *right) __attribute__((always_inline)) {
    Vec<V> y[C];
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c)
      y[c] = load<V>(right + c * V);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      Vec<V> x = splat<V>(from[r * aRow]);
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c)
        sums[r][c] += x * y[c];
        // Compiler barrier: it keeps the loads of later rows and steps after these multiply-adds.
        // If the loads were hoisted, registers would spill.
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c)
        keepInRegister<V>(sums[r][c]);
    }
  };
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4, a += 4 * aColumn, b += 4 * bRow) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      step(a + i * aColumn, b + i * bRow);
  }
  for (; k < depth; ++k, a += aColumn, b += bRow)
    step(a, b);
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_BLOCK_H

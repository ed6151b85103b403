//===- Sums.h - sums over channels for batch normalization statistics -----===//
//
// For inclusion by WinogradKernels.h, in the files that are compiled for one instruction set.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_SUMS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_SUMS_H

#include "runtime/library/winograd/Kernels.h"
#include "runtime/library/winograd/Matrices.h"

namespace dlc::winograd {
namespace {

/// Adds the first `rows` by `cols` results of a tile to the sums of their channels (kSums in
/// Kernels.h). `first` is set for the first tile, which initializes the sums.
template <int V, int M>
DLC_INLINE void accumulateChannelSums(const Vec<V> (&y)[M][M], int rows, int cols, bool first,
                                      float *to) {
  Vec<V> shift = first ? y[0][0] : load<V>(to);
  // Each column has its own sums, so that additions do not depend on one another.
  Vec<V> sum[M] = {}, square[M] = {};
  auto add = [&](int i, int j) {
    Vec<V> d = y[i][j] - shift;
    sum[j] += d;
    square[j] += d * d;
  };
  if (rows == M && cols == M) {
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < M; ++j)
        add(i, j);
  } else {
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < M; ++j)
        if (j < cols)
          add(i, j);
  }
#pragma GCC unroll 4
  for (int j = 1; j < M; ++j) {
    sum[0] += sum[j];
    square[0] += square[j];
  }
  store<V>(to, shift);
  store<V>(to + V, first ? sum[0] : load<V>(to + V) + sum[0]);
  store<V>(to + 2 * V, first ? square[0] : load<V>(to + 2 * V) + square[0]);
}

} // namespace
} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_SUMS_H

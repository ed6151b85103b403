//===- Kernels.h - the steps of a product by weights in blocks, one thread's part each ---===//
//
//   y[m, n] = Σ over blocks: scale[n, block] · Σ in the block: x[m, k] · (w[n, k] - zero[n, block])
//
// Numbers of x become integers for the sums in a block: a factor for the block times one to three
// digits of base 256, from -128 to 127. With two, an error is at most 2^-16 of the block's largest
// number, with three 2^-24; sums of digits by weights are exact. Weights are unsigned: what is to
// be added to all of them (Shape::shift) is in the sums from the beginning.
//
// Packed weights lie in panels of V columns, a record for each block of them:
//
//   4 bits   [depths / 8][V][4 bytes: depth i in the low half, depth i + 4 in the high one]
//   8 bits   [depths / 4][V][4 bytes]
//   scales   [V] of f32
//
// and behind all panels, where they have zero points of their own, [panel][block][V bytes].
//
// This header is read by files compiled for other processors than the rest: nothing here may bring
// inline functions along that the linker could take for everybody.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H

#include "runtime/library/simd/Post.h"

namespace dlc::blocks {

constexpr int kMostDigits = 3;

struct Shape {
  int64_t n = 0, k = 0;
  int64_t depth = 0;  ///< of a block: a multiple of 16
  int64_t blocks = 0; ///< of k, the last one padded
  int64_t bits = 4, digits = kMostDigits;
  bool hasZeros = false;
  int64_t shift = 0;  ///< of all weights, where they have no zero points of their own
  bool joins = false; ///< sums of two digits together fit 32 bits
  int64_t record = 0; ///< bytes of a panel's block
  int64_t panels = 0;
};

/// What a row's block of x is, beside its digits.
struct Block {
  float factors[kMostDigits]; ///< of the digits, the highest first
  int32_t start[kMostDigits]; ///< the sums of digits by shift, or less than 0 by zero points
};

/// Of `count` rows, some of which (as many as there are registers for; the last have fewer) pass
/// over weights together: digits [some rows][block][row][digit][depth], and [some
/// rows][block][row].
struct Rows {
  int8_t *digits = nullptr;
  Block *blocks = nullptr;
  int64_t count = 0;
};

struct Kernels {
  int64_t lanes;
  /// A row of k numbers.
  void (*digits)(const Shape &shape, const float *x, int64_t row, const Rows &rows);
  /// The columns of panels [begin, end) of all rows.
  void (*multiply)(const Shape &shape, const Rows &rows, const void *weights, int64_t begin,
                   int64_t end, float *to, int64_t toRow, const simd::Epilogue &epilogue);
};

/// Compiled for AVX-512 with VNNI (16 lanes), and for AVX2 (8 lanes).
extern const Kernels avx512Kernels, avx2Kernels;

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H

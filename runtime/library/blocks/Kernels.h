//===- Kernels.h - kernels for matmuls with block-quantized weights -------===//
//
//   y[m, n] = Σ over blocks: scale[n, block] · Σ in the block: x[m, k] · (w[n, k] - zero[n, block])
//
// The elements of x are quantized in each block to integers of 1 to 3 signed digits of base 256,
// from -128 to 127, with a factor for the block. The error is at most 2^-16 of the block's largest
// magnitude with two digits, and 2^-24 with three. The sums of digits times weights are exact
// integers. Weights are stored as unsigned integers: Shape::shift, which must be added to all of
// them, is included in the initial sums.
//
// Packed weights are stored in panels of V columns, with a record for each block of depth:
//
//   4 bits   [depths / 8][V][4 bytes: depth i in the low nibble, depth i + 4 in the high nibble]
//   8 bits   [depths / 4][V][4 bytes]
//   scales   [V] of f32
//
// If each block has its own zero point, the panels are followed by [panel][block][V bytes].
//
// The files compiled for one instruction set include this header, so it must not contain inline
// functions: the linker could choose their copies for all processors.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H

#include "runtime/library/simd/Post.h"

namespace dlc::blocks {

constexpr int kMaxDigits = 3;

struct Shape {
  int64_t n = 0, k = 0;
  int64_t depth = 0;  ///< number of elements of k in a block, a multiple of 16
  int64_t blocks = 0; ///< number of blocks of k; the last one is padded
  int64_t bits = 4, digits = kMaxDigits;
  bool hasZeros = false;
  int64_t shift = 0;  ///< integer added to all weights, if blocks have no zero points
  bool joins = false; ///< whether 256 * (sum of a digit) + (sum of the next) fits in 32 bits
  int64_t record = 0; ///< bytes of one block of a panel, with its scales
  int64_t panels = 0;
};

/// Quantization factors and initial sums of one block of a row of x.
struct BlockFactors {
  float factors[kMaxDigits]; ///< factor of each digit, the highest digit first
  int32_t start[kMaxDigits]; ///< sum of the digits times shift; with zero points: negated sum
};

/// `count` quantized rows, divided into runs of rows that are multiplied together: as many as fit
/// the registers, fewer in the last run. The layouts are digits [run][block][row][digit][depth] and
/// blocks [run][block][row].
struct QuantizedRows {
  int8_t *digits = nullptr;
  BlockFactors *blocks = nullptr;
  int64_t count = 0;
};

struct Kernels {
  int64_t lanes;
  /// Quantizes row `row`, of k elements, into digits.
  void (*digits)(const Shape &shape, const float *x, int64_t row, const QuantizedRows &rows);
  /// Computes the result columns of the weight panels [begin, end) for all rows.
  void (*multiply)(const Shape &shape, const QuantizedRows &rows, const void *weights,
                   int64_t begin, int64_t end, float *to, int64_t toRow,
                   const simd::Epilogue &epilogue);
};

/// Kernels compiled for AVX-512 with VNNI (16 lanes) and for AVX2 (8 lanes).
extern const Kernels avx512Kernels, avx2Kernels, scalarKernels;

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_KERNELS_H

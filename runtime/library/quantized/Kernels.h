//===- Kernels.h - kernels for matmuls with weights in block formats ------===//
//
// Activations are quantized to int8 with a factor for each 32 elements. Sums of products of codes
// and int8 values are exact integers, and the f32 sum over the blocks has a fixed order. A result
// therefore does not depend on the number of threads or of columns.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_QUANTIZED_KERNELS_H
#define DLC_RUNTIME_LIBRARY_QUANTIZED_KERNELS_H

#include "runtime/library/quantized/Formats.h"

namespace dlc::quantized {

/// Factor and sums of 32 quantized elements of a column. If the weights have groups of 16, element
/// 1 of the arrays describes the second group.
struct ActivationFactors {
  float scale;
  int32_t start[2]; ///< sum of the elements times the negated offset of the format
  float sum[2];     ///< sum of the elements
};

/// Tile of columns with the layouts values [depth / 32][column][32] and
/// factors [depth / 32][column].
struct Tile {
  const int8_t *values;
  const ActivationFactors *factors;
};

/// Computes the first `rows` rows of a panel, for each column of a tile, from `records` packed
/// records: to[column * toColumn + row].
using TileKernel = void (*)(const uint8_t *panel, int64_t records, Tile tile, float *to,
                            int64_t toColumn, int64_t rows);
/// Computes the same as a TileKernel from f32 activations x[column * xColumn + element].
using StrictKernel = void (*)(const uint8_t *panel, int64_t records, const float *x,
                              int64_t xColumn, float *to, int64_t toColumn, int64_t rows);

/// Numbers of columns that kernels compute together, in descending order.
constexpr int kWidths = 3;
constexpr int kColumns[kWidths] = {16, 4, 1};

/// Kernels of one format, for each number of columns in kColumns.
struct FormatKernels {
  TileKernel tiles[kWidths];
  StrictKernel strict[kWidths];
};

/// Kernels of one instruction set, whose vectors have `lanes` lanes.
struct Kernels {
  int lanes;
  FormatKernels formats[kFormats];
  /// Quantizes `groups` groups of 32 elements. Group i of the column is stored at
  /// `values + i * stride * 32` and `factors + i * stride`.
  void (*quantize)(const Format &format, const float *x, int64_t groups, int64_t stride,
                   int8_t *values, ActivationFactors *factors);
};

/// Kernels compiled for AVX-512 with VNNI (16 lanes), for AVX2 and for any processor (8 lanes).
extern const Kernels avx512Kernels, avx2Kernels, scalarKernels;

} // namespace dlc::quantized

#endif // DLC_RUNTIME_LIBRARY_QUANTIZED_KERNELS_H

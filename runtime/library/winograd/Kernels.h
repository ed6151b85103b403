//===- Kernels.h - kernels of a Winograd convolution ----------------------===//
//
// Images are stored in blocks of V channels ([N, C/V, H, W, V], "aBcd16b") or channels last ([N, H,
// W, C], "acdb"). A tile is M x M results, or the A x A inputs from which these results are
// computed. Transformed data is stored by point p of A x A:
//
//   data     [p][channel block][tile][V]
//   weights  [pair of blocks of results' channels][p][channel][2][V]
//
// The kernels read the weights in the order in which they are stored. Gradients of weights are
// computed point by point, so their first dimension is p, followed by the pair. If the number of
// blocks is odd, the last block has no second block.
//
// The files compiled for one instruction set include this header, so it must not contain inline
// functions: the linker could choose their copies for all processors.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H

#include "runtime/library/simd/Step.h"

#include <stdint.h>

namespace dlc::winograd {

using simd::EpilogueStep;

struct Shape {
  int64_t batch = 0;
  int64_t inBlocks = 0, outBlocks = 0; // input and output channels, divided by V
  int64_t inHeight = 0, inWidth = 0, outHeight = 0, outWidth = 0;
  int64_t top = 0, left = 0; // padding at the top and at the left
  int64_t tileRows = 0, tileCols = 0;
  bool channelsLast = false;

  int64_t tiles() const { return batch * tileRows * tileCols; }
};

/// Data of the tiles [first, first + count) in the Winograd domain, with the point as the outermost
/// dimension.
struct TileData {
  float *at = nullptr;
  int64_t point = 0; // stride between two points, in elements
  int64_t first = 0, count = 0;
};

/// Weights in the Winograd domain, with the strides between two points and between two pairs of
/// channel blocks, in elements.
struct PointWeights {
  float *at = nullptr;
  int64_t point = 0, pair = 0;
};

/// Number of vectors of statistics for each block of channels and each part of the tiles: the first
/// results, the sums of the differences from these first results, and the sums of the squared
/// differences. Each part of the tiles uses its own first results, because no common shift is known
/// yet.
constexpr int kSums = 3;

/// Winograd kernels compiled for one instruction set, one tile size M and one window size R.
struct Kernels {
  int lanes, outputs, window, points;
  /// Transforms an image's tiles in the channel blocks [begin, end) to the Winograd domain.
  void (*data)(const Shape &shape, const float *image, const TileData &to, int64_t begin,
               int64_t end);
  /// Transforms the gradient of the results in the output channel blocks [begin, end) to the
  /// Winograd domain.
  void (*gradient)(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                   int64_t end);
  /// Computes the matmuls in the Winograd domain: to[p][block - begin][tile] = weights * data for
  /// the output channel blocks [begin, end).
  void (*product)(const Shape &shape, const TileData &data, const PointWeights &weights,
                  const TileData &to, int64_t begin, int64_t end);
  /// Transforms the products of the Winograd domain back to an image; the first channel block in
  /// `from` is `begin`. If `sums` is not null, the statistics of output block b are stored at `sums
  /// + b * kSums * V`.
  void (*result)(const Shape &shape, const TileData &from, float *image, int64_t begin, int64_t end,
                 const float *bias, const EpilogueStep *steps, int stepCount, float *sums);
  /// Transforms weights [O, C, R, R] of the output channel blocks [begin, end) to the Winograd
  /// domain. If `transposed` is set, the weights are [C, O, R, R] and the windows are flipped.
  void (*weights)(const Shape &shape, const float *plain, bool transposed, const PointWeights &to,
                  int64_t begin, int64_t end);
  /// Accumulates weight gradients in the Winograd domain: to[p][block] += gradient * data, summed
  /// over all tiles, for the indices p * outBlocks + block in [begin, end).
  void (*weightProduct)(const Shape &shape, const TileData &data, const TileData &gradient,
                        const PointWeights &to, int64_t begin, int64_t end);
  /// Sums `parts` weight gradients of the Winograd domain, with a stride of `between` elements, and
  /// transforms the sum back to [O, C, R, R]. [begin, end) is a range of block pairs, numbered
  /// output block * inBlocks + input block.
  void (*weightResult)(const Shape &shape, const PointWeights &from, int parts, int64_t between,
                       float *plain, int64_t begin, int64_t end);
};

/// Kernels compiled for AVX-512 (16 lanes), for AVX2 with FMA (8 lanes), and for any CPU (8 lanes).
/// Null if the sizes are not supported.
const Kernels *avx512Kernels(int outputs, int window);
const Kernels *avx2Kernels(int outputs, int window);
const Kernels *scalarKernels(int outputs, int window);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H

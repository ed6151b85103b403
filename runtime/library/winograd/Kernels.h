//===- Kernels.h - the steps of a Winograd convolution, one thread's part each ---===//
//
// Images lie in blocks of V channels ([N, C/V, H, W, V], "aBcd16b") or with channels last ([N, H,
// W, C], "acdb"); a tile is M x M results, or the A x A numbers that they come from. In between
// everything is by point p of A x A:
//
//   data     [p][channel block][tile][V]
//   weights  [pair of blocks of results' channels][p][channel][2][V]
//
// so that products read weights in the order in which they lie; gradients of weights, which are
// made point by point, have p before the pair. A last block that has no other stands alone.
//
// This header is read by files compiled for other processors than the rest: nothing here may bring
// inline functions along that the linker could take for everybody.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H

#include "runtime/library/simd/Step.h"

#include <stdint.h>

namespace dlc::winograd {

using simd::Step;

struct Shape {
  int64_t batch = 0;
  int64_t inBlocks = 0, outBlocks = 0; // channels / V
  int64_t inHeight = 0, inWidth = 0, outHeight = 0, outWidth = 0;
  int64_t top = 0, left = 0; // padding
  int64_t tileRows = 0, tileCols = 0;
  bool channelsLast = false;

  int64_t tiles() const { return batch * tileRows * tileCols; }
};

/// Tiles [first, first + count) by point.
struct TileData {
  float *at = nullptr;
  int64_t point = 0; // elements from a point to the next
  int64_t first = 0, count = 0;
};

/// Weights by point: elements from a point to the next, and from a pair of blocks to the next.
struct PointWeights {
  float *at = nullptr;
  int64_t point = 0, pair = 0;
};

/// What some tiles contribute to a block of channels' statistics, where no shift common to all
/// tiles is known yet: V numbers each of first results, of sums of what results differ from those
/// by, and of sums of the squares of that.
constexpr int kSums = 3;

/// One processor's functions for one V, M and R.
struct Kernels {
  int lanes, outputs, window, points;
  /// Channel blocks [begin, end) of an image's tiles, to data by point.
  void (*data)(const Shape &shape, const float *image, const TileData &to, int64_t begin,
               int64_t end);
  /// The same of the results' gradient.
  void (*gradient)(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                   int64_t end);
  /// to[p][block - begin][tile] = weights * data, for results' blocks [begin, end).
  void (*product)(const Shape &shape, const TileData &data, const PointWeights &weights,
                  const TileData &to, int64_t begin, int64_t end);
  /// Those back to an image; blocks count from `begin` in `from`. Where `sums` is not null, the
  /// sums of results' block b are left at `sums + b * kSums * V`.
  void (*result)(const Shape &shape, const TileData &from, float *image, int64_t begin, int64_t end,
                 const float *bias, const Step *steps, int stepCount, float *sums);
  /// Weights [O, C, R, R] of results' blocks [begin, end), or [C, O, R, R] turned round.
  void (*weights)(const Shape &shape, const float *plain, bool turned, const PointWeights &to,
                  int64_t begin, int64_t end);
  /// to[p][block] += gradient * data over all tiles, for pairs p * outBlocks + block in [begin,
  /// end).
  void (*weightProduct)(const Shape &shape, const TileData &data, const TileData &gradient,
                        const PointWeights &to, int64_t begin, int64_t end);
  /// The sum of `parts` of such weights (`between` apart) back to [O, C, R, R]: pairs block *
  /// inBlocks + channel block.
  void (*weightResult)(const Shape &shape, const PointWeights &from, int parts, int64_t between,
                       float *plain, int64_t begin, int64_t end);
};

/// Compiled for AVX-512 (16 lanes) and AVX2 with FMA (8). Null for what there is not.
const Kernels *avx512Kernels(int outputs, int window);
const Kernels *avx2Kernels(int outputs, int window);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_KERNELS_H

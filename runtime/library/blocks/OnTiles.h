//===- OnTiles.h - products by weights in blocks on a processor's tiles (AMX) -----------===//
//
// Weights less their zero points are whole numbers of at most nine bits with their sign, which bf16
// holds exactly: a thread makes tiles of some of two panels' weights in its cache, and multiplies
// all rows by them, which are in bf16 parts (tiles/Kernel.h). A block's sums are multiplied by its
// scales while tiles multiply the next one.
//
// This header is shared with code compiled for those processors alone: nothing in it is inline.
//
//===------------------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H

#include "runtime/library/blocks/Kernels.h"

namespace dlc::blocks {

/// Columns of a panel, and panels that tiles multiply together.
constexpr int64_t kPanel = 16, kPair = 2;

/// Steps of tiles, 32 depths each, whose weights are numbers at the same time.
constexpr int64_t kStepsAtOnce = 8;

/// `count` rows, packed in parts as tiles want them; `first` is the first one's number.
struct TileRows {
  const char *left = nullptr;
  int64_t count = 0, first = 0;
  int parts = 2;
};

/// What a thread works in: 2 KiB for each of kStepsAtOnce, and 32 sums of each row.
struct Space {
  char *right = nullptr;
  float *sums = nullptr;
};

/// The rows by panels `panel` and the next, if there is one, whose blocks are multiples of 32 deep.
/// `to` points at the first row's first result in all columns.
void multiplyOnTiles(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
                     const Space &space, float *to, int64_t toRow, const simd::Epilogue &epilogue);

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H

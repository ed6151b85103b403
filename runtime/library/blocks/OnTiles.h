//===- OnTiles.h - matmuls with block-quantized weights on AMX tiles ------===//
//
// Weights minus their zero points are signed integers of at most nine bits, which bf16 represents
// exactly. A thread unpacks a part of two panels' weights into tiles in its cache and multiplies
// all rows by them; the rows are split into bf16 parts (tiles/Kernel.h). A block's sums are
// multiplied by its scales while the tiles multiply the next block.
//
// The files compiled for processors with AMX include this header, so it contains no inline
// functions.
//
//===------------------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H

#include "runtime/library/blocks/Kernels.h"

namespace dlc::blocks {

/// Number of columns of a weight panel, and number of panels that the tiles multiply together.
constexpr int64_t kPanel = 16, kPair = 2;

/// Number of tile steps, of 32 elements of k each, whose weights are unpacked at a time.
constexpr int64_t kStepsAtOnce = 8;

/// Rows of the left operand, packed in bf16 parts in the layout of the tiles; `first` is the index
/// of the first of `count` rows.
struct TileRows {
  const char *left = nullptr;
  int64_t count = 0, first = 0;
  int parts = 2;
};

/// Scratch memory of a thread: `right` has 2 KiB for each of kStepsAtOnce steps, `sums` has 32 sums
/// for each row.
struct TileScratch {
  char *right = nullptr;
  float *sums = nullptr;
};

/// Multiplies the rows by the weight panel `panel` and the next one, if there is one. The depth of
/// a block must be a multiple of 32. `to` is the address of the first row's result in column 0.
void multiplyOnTiles(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
                     const TileScratch &space, float *to, int64_t toRow,
                     const simd::Epilogue &epilogue);

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_ONTILES_H

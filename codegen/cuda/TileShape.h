//===- TileShape.h - contractions as rows and columns, and their tiles -----===//
#ifndef DLC_CODEGEN_CUDA_TILESHAPE_H
#define DLC_CODEGEN_CUDA_TILESHAPE_H

#include "codegen/cuda/Plan.h"

namespace dlc::cuda {

/// A contraction's result as [batch, row, column]. Convolutions have their output channels as rows
/// and images with positions as columns, or the other way round where images lie with their
/// channels last; a gradient of weights has channels and window as columns.
struct Geometry {
  int64_t batches = 1, rows = 1, columns = 1, contracted = 1;
  int64_t results = 1; ///< elements
  unsigned rowOperand = 0;
  bool channelsLast = false;
  llvm::SmallVector<int64_t> folded; ///< the contracted dimensions
  /// The result's index.
  std::function<Indices(Emitter &, const Expr &batch, const Expr &row, const Expr &column)> indexOf;
  /// The index in the contracted dimensions: of channels that lie last the window's positions come
  /// first.
  Indices foldedAt(Emitter &e, const Expr &k) const;
};
Geometry geometryOf(mlir::Operation *contraction);

struct TileShape {
  bool tensorCores = false;
  std::string mma;                  ///< bf16, f16, tf32; bytes: integers of 8 bits
  mlir::Type computed, accumulator; ///< of an operand's element and of the sum
  std::string sharedName;           ///< the type of elements in shared memory
  int64_t sharedBytes = 4;
  int64_t rows = 64, columns = 64, depth = 16; ///< of a block's tile
  int64_t step = 16;                           ///< along the depth, of one mma
  int64_t warpRows = 2;                        ///< warps side by side along the rows
  int64_t warpTileRows = 32, warpTileColumns = 32;
  int64_t micro = 4; ///< without tensor cores: neighbours of a thread
  int64_t threads = 256;
  bool warpgroups = false;    ///< products of four warps that read shared memory by themselves
  int64_t stages = 2;         ///< of shared memory
  int64_t blocksTogether = 0; ///< of these on a multiprocessor; 0: as it comes
  int64_t rowTiles = 1, columnTiles = 1, parts = 1, chunk = 0;
};
/// A shape's types: what is multiplied, and how.
TileShape typesOfTiles(const Planner &plan, mlir::Operation *contraction);
/// And all else. `computed`: whether the operand of the rows, and that of the columns, is no copy
/// of what lies in memory.
void chooseTiles(const Planner &plan, const Geometry &g, const bool (&computed)[2], TileShape &s);

} // namespace dlc::cuda
#endif

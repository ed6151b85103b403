//===- TileShape.h - contractions as batched matrices, and the shape of their tiles ---===//
#ifndef DLC_CODEGEN_CUDA_CONTRACT_TILESHAPE_H
#define DLC_CODEGEN_CUDA_CONTRACT_TILESHAPE_H

#include "codegen/cuda/Plan.h"

namespace dlc::cuda {

/// Indices [batch, row, column] of a contraction's result. For convolutions, rows are output
/// channels and columns are images with their pixels, or vice versa in channels-last layouts. For
/// weight gradients, columns are input channels and window positions.
struct ContractionGeometry {
  int64_t batches = 1, rows = 1, columns = 1, contracted = 1;
  int64_t results = 1; ///< number of elements of the result
  unsigned rowOperand = 0;
  bool channelsLast = false;
  llvm::SmallVector<int64_t> folded; ///< extents of the contracted dimensions
  /// Returns the index of a result element in the result tensor.
  std::function<Indices(Emitter &, const Expr &batch, const Expr &row, const Expr &column)> indexOf;
  /// Returns the indices in the contracted dimensions for the flat index `k`. In channels-last
  /// layouts, the window's dimensions precede the channels.
  Indices foldedAt(Emitter &e, const Expr &k) const;
};
ContractionGeometry getContractionGeometry(mlir::Operation *contraction);

struct TileShape {
  bool tensorCores = false;
  std::string mma; ///< type of mma instructions: bf16, f16, tf32, or bytes (8-bit integers)
  /// Element type of the operands as they are multiplied, and type of the sums.
  mlir::Type computed, accumulator;
  /// CUDA name of the operands' element type in shared memory.
  std::string sharedName;
  int64_t sharedBytes = 4;
  int64_t rows = 64, columns = 64, depth = 16; ///< extents of a thread block's tile
  int64_t step = 16;    ///< size of the contracted dimension of one mma instruction
  int64_t warpRows = 2; ///< number of warps along the rows of a tile
  int64_t warpTileRows = 32, warpTileColumns = 32;
  int64_t micro = 4; ///< number of adjacent result elements of a thread (without tensor cores)
  int64_t threads = 256;
  /// Whether warpgroup matrix instructions (wgmma) are used, which read shared memory.
  bool warpgroups = false;
  int64_t stages = 2; ///< number of pipeline stages in shared memory
  /// Required number of thread blocks per multiprocessor; 0: no requirement.
  int64_t blocksTogether = 0;
  int64_t rowTiles = 1, columnTiles = 1, parts = 1, chunk = 0;
};
/// Returns a tile shape in which only the element types and the use of tensor cores are set.
TileShape chooseTileTypes(const KernelGenerator &plan, mlir::Operation *contraction);
/// Sets all fields of `s` except the types. `computed`: whether the row operand and the column
/// operand are computed before they are stored in shared memory, instead of copied.
void chooseTileShape(const KernelGenerator &plan, const ContractionGeometry &g,
                     const bool (&computed)[2], TileShape &s);

} // namespace dlc::cuda
#endif

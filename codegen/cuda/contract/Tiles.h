//===- Tiles.h - base of the emitters of tiled contractions ---------------===//
#ifndef DLC_CODEGEN_CUDA_CONTRACT_TILES_H
#define DLC_CODEGEN_CUDA_CONTRACT_TILES_H

#include "codegen/cuda/contract/Bytes.h"
#include "codegen/cuda/contract/TileShape.h"

namespace dlc::cuda {

/// Tile of an operand in shared memory.
struct OperandTile {
  bool rows = true; ///< whether the operand depends on the result's rows, not on its columns
  unsigned operand = 0;
  std::string shared, staged;
  /// CUDA name of the element type in shared memory.
  std::string type;
  int64_t extent = 0; ///< extent of the tile along the rows or columns
  int64_t limit = 0;  ///< extent of the whole result along the same dimension
  /// Whether elements along the contracted dimension are contiguous in shared memory.
  bool depthFirst = false;
  /// Whether elements along the contracted dimension are strided in global memory.
  bool transposed = false;
  mlir::Value zeroPoint; ///< zero point that is subtracted from each element; null: none
  std::string filling;   ///< value of elements outside the operand; empty means 0
  bool guarded = false;  ///< whether elements may be in the padding of an image
  bool async = false;    ///< whether elements are copied asynchronously, not through registers
  int64_t width = 1;     ///< number of elements per copy to shared memory
  int64_t together = 1;  ///< number of elements of one vector of a thread, a multiple of `width`
  int64_t perThread = 1; ///< number of vectors that each thread copies or computes
};

/// Kernel in which each thread block computes tiles of a contraction's result.
class TiledKernelWriter {
public:
  TiledKernelWriter(KernelGenerator &plan, mlir::Operation *op,
                    llvm::ArrayRef<LaunchOutput> targets, const TileShape &shape)
      : plan(plan), op(op), targets(targets), g(getContractionGeometry(op)), s(shape), frame(plan),
        e(frame.e), t(frame.t) {
    e.x.joinsRemainders = true;
    if (s.mma == "bytes")
      bytes = matchByteOperands(op);
  }

  /// Returns how the tile of the row operand or, if `rows` is false, of the column operand is
  /// stored and filled.
  OperandTile sideOf(bool rows);

protected:
  /// Emits the position of the block's tile in the result, and the block's range of the contracted
  /// dimension in units of the tile's depth.
  void placeBlock();
  /// Returns the read of an operand element whose index varies with a lane, along the contracted
  /// dimension if `depth`; and the lane, which is less than `width`.
  std::pair<Expr, OperandRead> probe(const OperandTile &side, bool depth, int64_t width);
  /// Returns the number of elements per asynchronous copy, of at least four bytes, whose elements
  /// share all guards; 0 if the operand cannot be copied.
  int64_t findCopyWidth(const OperandTile &side, bool depth);
  /// Returns whether `width` adjacent elements have a constant stride in all buffers that are read.
  bool hasConstantStrides(const OperandTile &side, int64_t width);
  /// Chooses the dimension along which the tile is contiguous in shared memory: the one along which
  /// the buffers of the operand are contiguous. Also decides whether the operand is copied
  /// asynchronously.
  void chooseAccess(OperandTile &side);
  llvm::SmallVector<OperandRead, 2> termAt(const OperandTile &side, const Expr &along,
                                           const Expr &k);
  /// Returns the value whose elements are multiplied: the contraction's operand, or the 8-bit value
  /// from which the operand was converted.
  mlir::Value multiplied(unsigned operand) const {
    return bytes ? (*bytes)[operand].x : op->getOperand(operand);
  }
  /// Returns the bounds checks that are necessary before a thread reads the operand at row or
  /// column `along` and contracted index `k`.
  llvm::SmallVector<std::string> insideOf(const OperandTile &side, const Expr &along,
                                          const Expr &k);
  /// Emits a loop in which a thread executes `body` for each of its vectors of a tile.
  void forVectors(const OperandTile &side, llvm::function_ref<void(Expr)> body);
  /// Emits the computation of a vector of the operand's elements that starts at (along, k). Stores
  /// it in `slot`, which is initialized to zeros.
  void computeVector(const OperandTile &side, const Expr &along, const Expr &k,
                     const std::string &slot);
  void guarded(const llvm::SmallVectorImpl<std::string> &conditions,
               llvm::function_ref<void()> body);
  /// Returns the number of adjacent columns that a thread stores at a time.
  int64_t resultWidth();
  /// Emits the epilogue for `width` adjacent columns of the result and stores them. `total` returns
  /// the text of the accumulated sum in a lane.
  void finish(const Expr &row, const Expr &column, int64_t width,
              llvm::function_ref<std::string(const Expr &lane)> total);
  std::optional<Buffer> done(uint32_t shared, int64_t blocksTogether = 0);

  KernelGenerator &plan;
  mlir::Operation *op;
  llvm::ArrayRef<LaunchOutput> targets;
  ContractionGeometry g;
  TileShape s;
  std::optional<ByteOperands> bytes;
  LaunchBuilder frame;
  Emitter &e;
  IndentedText &t;
  Expr rowStart, columnStart, batch, thread;
  int64_t steps = 0;
  std::string begin, end;
  std::optional<Buffer> partial;
};

/// Emit a tiled contraction without tensor cores (Tiles.cpp) and with tensor cores
/// (TensorTiles.cpp). If the contracted dimension is split into parts, each function returns the
/// buffer of the partial sums.
std::optional<Buffer> writePlainTiles(KernelGenerator &plan, mlir::Operation *op,
                                      llvm::ArrayRef<LaunchOutput> targets, const TileShape &shape);
std::optional<Buffer> writeTensorTiles(KernelGenerator &plan, mlir::Operation *op,
                                       llvm::ArrayRef<LaunchOutput> targets,
                                       const TileShape &shape);

} // namespace dlc::cuda
#endif

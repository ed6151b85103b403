//===- Tiles.h - base of the emitters of tiled contractions ---------------===//
#ifndef DLC_CODEGEN_CUDA_TILES_H
#define DLC_CODEGEN_CUDA_TILES_H

#include "codegen/cuda/Bytes.h"
#include "codegen/cuda/TileShape.h"

namespace dlc::cuda {

/// An operand's tile in shared memory.
struct TileSide {
  bool rows = true; ///< whether the operand depends on the result's rows
  unsigned operand = 0;
  std::string shared, staged;
  std::string type;   ///< element type in shared memory
  int64_t extent = 0; ///< extent of the tile
  int64_t limit = 0;  ///< extent of the result in this direction
  /// Whether elements along the contracted dimension are contiguous in shared memory.
  bool depthFirst = false;
  /// Whether these elements are strided in global memory.
  bool transposed = false;
  mlir::Value zeroPoint; ///< subtracted from each element; null: none
  std::string filling;   ///< value of elements outside the operand; empty: 0
  bool guarded = false;  ///< whether elements may be in an image's padding
  bool async = false;    ///< copied asynchronously, not through registers
  int64_t width = 1;     ///< elements of one copy
  int64_t together = 1;  ///< elements of a thread's vector, a multiple of `width`
  int64_t perThread = 1; ///< vectors of a thread
};

/// A kernel whose blocks compute tiles of a contraction's result.
class TileFrame {
public:
  TileFrame(Planner &plan, mlir::Operation *op, llvm::ArrayRef<Target> targets,
            const TileShape &shape)
      : plan(plan), op(op), targets(targets), g(geometryOf(op)), s(shape), frame(plan), e(frame.e),
        t(frame.t) {
    e.x.joinsRemainders = true;
    if (s.mma == "bytes")
      bytes = byteOperandsOf(op);
  }

  /// Returns how an operand's tile is filled.
  TileSide sideOf(bool rows);

protected:
  /// Emits the start of the block's tile and of its part of the contracted dimension, in steps.
  void placeBlock();
  llvm::SmallVector<Read, 2> termAt(const TileSide &side, const Expr &along, const Expr &k);
  /// Returns the value that is multiplied: the operand, or the 8-bit value that it is converted
  /// from.
  mlir::Value multiplied(unsigned operand) const {
    return bytes ? (*bytes)[operand].x : op->getOperand(operand);
  }
  /// Returns the bounds checks that a thread needs before it reads the operand at (along, k).
  llvm::SmallVector<std::string> insideOf(const TileSide &side, const Expr &along, const Expr &k);
  /// Emits `body` for each of a thread's vectors of a tile.
  void forVectors(const TileSide &side, llvm::function_ref<void(Expr)> body);
  /// Emits the computation of the operand's element at (along, k) and its neighbors into `slot`, a
  /// vector of zeros.
  void computeVector(const TileSide &side, const Expr &along, const Expr &k,
                     const std::string &slot);
  void guarded(const llvm::SmallVectorImpl<std::string> &conditions,
               llvm::function_ref<void()> body);
  /// Returns the number of adjacent columns that are stored together.
  int64_t resultWidth();
  /// Emits the epilogue of a sum and its neighbors along the columns, and stores the results.
  /// `total` returns the text of the sum in a lane.
  void finish(const Expr &row, const Expr &column, int64_t width,
              llvm::function_ref<std::string(const Expr &lane)> total);
  std::optional<Buffer> done(uint32_t shared, int64_t blocksTogether = 0);

  Planner &plan;
  mlir::Operation *op;
  llvm::ArrayRef<Target> targets;
  Geometry g;
  TileShape s;
  std::optional<ByteOperands> bytes;
  Frame frame;
  Emitter &e;
  Text &t;
  Expr rowStart, columnStart, batch, thread;
  int64_t steps = 0;
  std::string begin, end;
  std::optional<Buffer> partial;
};

/// Emit tiles with tensor cores (TensorTiles.cpp) and without (Tiles.cpp). Each function returns
/// the buffer of partial sums if the contracted dimension is split into parts.
std::optional<Buffer> writePlainTiles(Planner &plan, mlir::Operation *op,
                                      llvm::ArrayRef<Target> targets, const TileShape &shape);
std::optional<Buffer> writeTensorTiles(Planner &plan, mlir::Operation *op,
                                       llvm::ArrayRef<Target> targets, const TileShape &shape);

} // namespace dlc::cuda
#endif

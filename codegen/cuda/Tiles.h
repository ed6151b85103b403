//===- Tiles.h - what writers of tiled products share ----------------------===//
#ifndef DLC_CODEGEN_CUDA_TILES_H
#define DLC_CODEGEN_CUDA_TILES_H

#include "codegen/cuda/Bytes.h"
#include "codegen/cuda/TileShape.h"

namespace dlc::cuda {

/// One operand's tile in shared memory.
struct TileSide {
  bool rows = true; ///< depends on the result's rows
  unsigned operand = 0;
  std::string shared, staged;
  std::string type;        ///< of elements in shared memory
  int64_t extent = 0;      ///< of the tile
  int64_t limit = 0;       ///< of the result in this direction
  bool depthFirst = false; ///< neighbours in shared memory are so along the contracted dimension
  bool turned = false;     ///< in memory they are not
  mlir::Value zeroPoint;   ///< which is subtracted from each element; null: none
  std::string filling;     ///< a number to be where there is no element; empty: 0
  bool guarded = false;    ///< an image whose padding is asked for
  bool async = false;      ///< copied without a way through registers
  int64_t width = 1;       ///< neighbours that are copied at once
  int64_t together = 1;    ///< neighbours that are a thread's, a vector: whole copies
  int64_t perThread = 1;   ///< vectors
};

/// A kernel whose blocks make tiles of a product's result.
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

  /// How an operand's tile is filled.
  TileSide sideOf(bool rows);

protected:
  /// Where the block's tile begins, and its part of the contracted dimension, in steps.
  void placeBlock();
  llvm::SmallVector<Read, 2> termAt(const TileSide &side, const Expr &along, const Expr &k);
  /// What is multiplied: the operand, or what it is widened from.
  mlir::Value multiplied(unsigned operand) const {
    return bytes ? (*bytes)[operand].x : op->getOperand(operand);
  }
  /// What of (along, k) a thread must ask before it reads the operand.
  llvm::SmallVector<std::string> insideOf(const TileSide &side, const Expr &along, const Expr &k);
  /// Over a thread's vectors of a tile.
  void forVectors(const TileSide &side, llvm::function_ref<void(Expr)> body);
  /// The operand's elements at (along, k) and its neighbours, into `slot`, a vector of zeros.
  void computeVector(const TileSide &side, const Expr &along, const Expr &k,
                     const std::string &slot);
  void guarded(const llvm::SmallVectorImpl<std::string> &conditions,
               llvm::function_ref<void()> body);
  /// How many neighbours along the columns are finished together.
  int64_t resultWidth();
  /// Stores what is computed of a sum and its neighbours along the columns; `total` gives the text
  /// of the sum in a lane.
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

/// With tensor cores (TensorTiles.cpp) and without (Tiles.cpp). Each returns the buffer of partial
/// sums where there are several parts.
std::optional<Buffer> writePlainTiles(Planner &plan, mlir::Operation *op,
                                      llvm::ArrayRef<Target> targets, const TileShape &shape);
std::optional<Buffer> writeTensorTiles(Planner &plan, mlir::Operation *op,
                                       llvm::ArrayRef<Target> targets, const TileShape &shape);

} // namespace dlc::cuda
#endif

//===- Split.h - reductions that are split into chunks in memory order ----===//
//
// Sums over a batch (bias gradients, batch statistics) and sums over all elements have few results
// and much input. Such a fusion is split into work units in memory order. Each unit reads a
// contiguous part of every operand once, for all of the fusion's reductions, and keeps one partial
// result per reduction and column in the first-level cache. If several units share a column, a
// second kernel combines the partial results. The split depends on the shapes and the vector width
// alone, so that results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_SPLIT_H
#define DLC_CODEGEN_CPU_SPLIT_H

#include "codegen/cpu/Kernel.h"

namespace dlc::cpu {

/// How a normalized fusion is split. Dimensions are those of the reduced operand.
struct SplitPlan {
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallVector<int64_t> shape;
  /// The last reduced dimension, and the other reduced dimension before it (-1: none).
  int64_t fine = 0, outer = -1;
  /// Whether lanes run along the last dimension, which is not reduced. Otherwise lanes run along
  /// the reduced dimension `fine`.
  bool columns = false;
  int64_t lanes = 1;
  int64_t unroll = 1; ///< number of rows, or of vectors, that are read in one iteration
  int64_t runs = 1;   ///< number of distant memory streams that these are read from
  int64_t width = 1,
          strips = 1; ///< columns of a strip that one thread reduces, and number of strips
  /// Concatenation that the reduced operand is computed from, if no unit has elements of two of its
  /// parts. The code then selects the part once per unit and not per element.
  ConcatOp joined = nullptr;
  int64_t fineChunk = 1, fineChunks = 1, outerChunk = 1, outerChunks = 1;
  int64_t units = 1;

  /// Returns whether no two units share a result. There is no second kernel then.
  bool isWhole() const { return fineChunks * outerChunks == 1; }
  /// Shape of the partial results of one reduction.
  llvm::SmallVector<int64_t> partialShape() const;
  /// Prefetch distance in elements.
  int64_t ahead() const;
  /// Type of the accumulator that a unit keeps in scratch for each column of a reduction.
  mlir::Type slotType(ReduceOp op) const;
};

/// Decides whether and how a normalized fusion is split.
std::optional<SplitPlan> planSplit(FusionOp fusion, const Target &target);
/// Returns the bytes of scratch memory that each thread needs.
int64_t splitScratch(const SplitPlan &plan);

/// Emits the kernel of the work units. If the plan is whole, its buffers are the fusion's inputs
/// and outputs. Otherwise they are the inputs, the outputs that have the shape of the reduced
/// operand, and one buffer of partial results for each reduction.
mlir::LogicalResult emitSplitKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                    const SplitPlan &plan, const Target &target);

/// The second kernel of a plan that is not whole. It is created at the builder's insertion point.
struct Combination {
  FusionOp fusion;
  /// Source of each operand: an input of the first fusion, or the number of inputs plus the index
  /// of a reduction.
  llvm::SmallVector<unsigned> operands;
  /// Output of the first fusion that each result replaces.
  llvm::SmallVector<unsigned> outputs;
};
Combination combineSplit(mlir::OpBuilder &b, FusionOp fusion, const SplitPlan &plan);
/// Returns the outputs that the first kernel of a plan that is not whole writes.
llvm::SmallVector<unsigned> firstOutputs(FusionOp fusion, const SplitPlan &plan);
bool isSum(ReduceOp op);
/// Returns the element type of a reduction's partial results: f64 for sums. A few terms are added
/// in their own type, and these sums are added in f64, because sums over a batch often nearly
/// cancel. The kernel is memory bound, so that f64 costs no time.
mlir::Type partialType(ReduceOp op);

} // namespace dlc::cpu
#endif

//===- Split.h - reductions whose rows are no runs of memory, in chunks ---===//
//
// Sums over a batch (bias gradients, batch statistics) and sums of everything have few results and
// much to read. Such a fusion is cut into units along the order of memory: each reads a contiguous
// part of every operand once, for all of the fusion's reductions, and keeps one partial result per
// reduction and column in the first-level cache. Where several units share a column, a second
// kernel combines the partial results. The cuts depend on the shapes alone, and so does the result.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_SPLIT_H
#define DLC_CODEGEN_CPU_SPLIT_H

#include "codegen/cpu/Kernel.h"

namespace dlc::cpu {

/// How a normalised fusion is cut. Dimensions are those of what is reduced.
struct SplitPlan {
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallVector<int64_t> shape;
  /// The last reduced dimension, and the one reduced dimension before it (or -1).
  int64_t fine = 0, outer = -1;
  /// Lanes run along the last dimension, which is kept; else along the reduced dimension `fine`.
  bool columns = false;
  int64_t lanes = 1;
  int64_t unroll = 1;            ///< rows, or runs of lanes, that are read at a time
  int64_t runs = 1;              ///< of memory that they lie in, far from each other
  int64_t width = 1, strips = 1; ///< columns of a unit
  /// What is reduced is made of it, and no unit has elements of two of its parts: nothing has to
  /// choose per element.
  ConcatOp joined = nullptr;
  int64_t fineChunk = 1, fineChunks = 1, outerChunk = 1, outerChunks = 1;
  int64_t units = 1;

  /// Whether no two units share a result: there is no second kernel.
  bool isWhole() const { return fineChunks * outerChunks == 1; }
  /// The partial results of one reduction.
  llvm::SmallVector<int64_t> partialShape() const;
  /// Elements from what a unit reads to what it asks of memory.
  int64_t ahead() const;
  /// What a unit keeps for each column of a reduction that has columns.
  mlir::Type slotType(ReduceOp op) const;
};

/// Whether and how a normalised fusion is cut.
std::optional<SplitPlan> planSplit(FusionOp fusion, const Target &target);
/// Bytes of scratch memory that each thread needs.
int64_t splitScratch(const SplitPlan &plan);

/// Emits the units. The buffers are the fusion's inputs and outputs when the plan is whole; else
/// the inputs, the outputs of the reduced shape, and one buffer of partial results for each
/// reduction.
mlir::LogicalResult emitSplitKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                    const SplitPlan &plan, const Target &target);

/// The second kernel of a plan that is not whole, at the builder's insertion point.
struct Combination {
  FusionOp fusion;
  /// For each operand: an input of the first fusion, or number of inputs + a reduction's position.
  llvm::SmallVector<unsigned> operands;
  /// For each result: the output of the first fusion.
  llvm::SmallVector<unsigned> outputs;
};
Combination combineSplit(mlir::OpBuilder &b, FusionOp fusion, const SplitPlan &plan);
/// The outputs that the first kernel of a plan that is not whole writes.
llvm::SmallVector<unsigned> firstOutputs(FusionOp fusion, const SplitPlan &plan);
bool isSum(ReduceOp op);
/// The element type of a reduction's partial results: f64 for sums. A few terms are added in their
/// own type, and these sums in f64, which costs nothing beside reading the terms from memory: sums
/// over a batch often all but cancel.
mlir::Type partialType(ReduceOp op);

} // namespace dlc::cpu
#endif

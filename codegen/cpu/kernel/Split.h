//===- Split.h - reductions that are split into chunks in memory order ----===//
//
// Sums over a batch (bias gradients, batch statistics) and sums over all elements have few results
// and much input. Such a fusion is split into work units in memory order. Each unit reads a
// contiguous part of every operand once, for all of the fusion's reductions, and has one
// accumulator per reduction and column in the first-level cache. If several units contribute to a
// column, a second kernel combines their partial results. The split depends only on the shapes and
// the vector width, so that results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_SPLIT_H
#define DLC_CODEGEN_CPU_KERNEL_SPLIT_H

#include "codegen/cpu/kernel/Kernel.h"

namespace dlc::cpu {

/// How the reductions of a normalized fusion are split into work units. Dimensions are those of the
/// reduced operand.
struct SplitPlan {
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallVector<int64_t> shape;
  /// `fine`: the last reduced dimension. `outer`: the other reduced dimension, which precedes it;
  /// -1: none.
  int64_t fine = 0, outer = -1;
  /// Whether vector lanes run along the last dimension because it is not reduced. Otherwise they
  /// run along the reduced dimension `fine`.
  bool columns = false;
  int64_t lanes = 1;
  /// Number of rows (or vectors, if lanes run along `fine`) that one iteration reads.
  int64_t unroll = 1;
  int64_t runs = 1; ///< number of distant memory streams from which one iteration reads
  /// Number of columns that one work unit reduces (a strip), and number of strips.
  int64_t width = 1, strips = 1;
  /// Concatenation from which the reduced operand is computed; null unless each work unit reads
  /// only one operand of the concatenation. If set, the emitted code selects the operand once per
  /// unit instead of once per element.
  ConcatOp joined = nullptr;
  int64_t fineChunk = 1, fineChunks = 1, outerChunk = 1, outerChunks = 1;
  int64_t units = 1;

  /// Returns whether each result is computed by a single work unit, so that no second kernel has to
  /// combine partial results.
  bool isWhole() const { return fineChunks * outerChunks == 1; }
  /// Returns the shape of the partial results of one reduction.
  llvm::SmallVector<int64_t> partialShape() const;
  /// Returns the prefetch distance in elements.
  int64_t ahead() const;
  /// Returns the type of the accumulator in scratch memory that a work unit has for each column of
  /// a reduction.
  mlir::Type slotType(ReduceOp op) const;
};

/// Decides whether and how the reductions of a normalized fusion are split into work units. Returns
/// nothing if they are not split.
std::optional<SplitPlan> planSplit(FusionOp fusion, const Target &target);
/// Returns the bytes of scratch memory that each thread needs for the accumulators.
int64_t getSplitScratchBytes(const SplitPlan &plan);

/// Emits the kernel that computes the work units. If plan.isWhole(), its buffers are the inputs and
/// outputs of the fusion. Otherwise they are the inputs, the outputs that have the shape of the
/// reduced operand, and one buffer of partial results for each reduction.
mlir::LogicalResult emitSplitKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                    const SplitPlan &plan, const Target &target);

/// Fusion of the second kernel, which combines the partial results of the work units. It is needed
/// unless plan.isWhole(), and is created at the builder's insertion point.
struct CombiningFusion {
  FusionOp fusion;
  /// Source of each operand of this fusion: the index of an input of the original fusion, or the
  /// number of inputs plus the index of a reduction whose partial results it reads.
  llvm::SmallVector<unsigned> operands;
  /// For each result of this fusion, the index of the output of the original fusion that it
  /// replaces.
  llvm::SmallVector<unsigned> outputs;
};
CombiningFusion createCombiningFusion(mlir::OpBuilder &b, FusionOp fusion, const SplitPlan &plan);
/// Returns the indices of the outputs that the first kernel writes, which computes the work units.
/// Requires that plan.isWhole() is false.
llvm::SmallVector<unsigned> getFirstKernelOutputs(FusionOp fusion, const SplitPlan &plan);
bool isSum(ReduceOp op);
/// Returns the element type of a reduction's partial results. For sums it is f64: a few terms are
/// added in their own type, and the resulting sums are added in f64, because sums over a batch
/// often nearly cancel. The kernel is memory bound, so that f64 costs no time.
mlir::Type getPartialType(ReduceOp op);

} // namespace dlc::cpu
#endif

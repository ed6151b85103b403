//===- Recompute.h - rematerialization for the backward pass --------------===//
#ifndef DLC_PASSES_GRAD_RECOMPUTE_RECOMPUTE_H
#define DLC_PASSES_GRAD_RECOMPUTE_RECOMPUTE_H

#include "passes/fuse/analysis/Rematerialised.h"
#include "passes/grad/recompute/Lifetimes.h"

#include "mlir/IR/IRMapping.h"

namespace dlc::grad {

/// Clones an operation at the insertion point, with its operands replaced by `mapping`.
/// batch_norm_train becomes batch_norm with the saved statistics, and max_pool_positions becomes
/// max_pool, because its positions are saved.
mlir::Operation *cloneForRecompute(mlir::Operation *op, mlir::OpBuilder &builder,
                                   mlir::IRMapping &mapping);

/// Returns whether the operation takes significant time. A value with uses before and after such an
/// operation is retained in memory in between.
bool isExpensiveOp(mlir::Operation *op);

/// Rematerializes values that are cheap functions of values that are retained anyway, once for each
/// group of late readers (readers in the backward pass). If late readers only compare a value with
/// constants, the results of these comparisons are retained instead of the value.
void recomputeCheap(mlir::func::FuncOp function);

/// Rematerializes further values, in the order of saved bytes per cost, until the estimated memory
/// is at most `limit` or cannot be reduced. Returns the estimated memory after that.
int64_t recomputeToMemoryLimit(mlir::func::FuncOp function, int64_t limit);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RECOMPUTE_RECOMPUTE_H

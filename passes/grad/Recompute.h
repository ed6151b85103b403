//===- Recompute.h - what is computed again instead of being kept ---------===//
#ifndef DLC_PASSES_GRAD_RECOMPUTE_H
#define DLC_PASSES_GRAD_RECOMPUTE_H

#include "passes/fuse/Rematerialised.h"
#include "passes/grad/Lifetimes.h"

#include "mlir/IR/IRMapping.h"

namespace dlc::grad {

/// The operation once more at the builder's place, with operands as mapped. Batch norm's y follows
/// from the statistics, which are kept like a pool's positions; all else is made by the same
/// operation.
mlir::Operation *copyOf(mlir::Operation *op, mlir::OpBuilder &builder, mlir::IRMapping &mapping);

/// Work that takes time of its own: between two uses that such work divides a value is kept.
bool isHeavy(mlir::Operation *op);

/// Values that are cheap functions of values kept anyway are computed again for each late reader,
/// and where late readers only compare a value with a number, the answer is kept instead.
void recomputeCheap(mlir::func::FuncOp function);

/// Computes more again, the cheapest for its size first, until the estimate is at most `limit` or
/// nothing more helps. Returns the estimate then.
int64_t recomputeUntil(mlir::func::FuncOp function, int64_t limit);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RECOMPUTE_H

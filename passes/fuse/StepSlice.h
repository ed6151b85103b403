//===- StepSlice.h - slices that move on with a loop ----------------------===//
#ifndef DLC_PASSES_FUSE_STEPSLICE_H
#define DLC_PASSES_FUSE_STEPSLICE_H

#include "ir/dlc/Dialect.h"

#include <optional>

namespace dlc {

/// How often the loop runs, where that is known.
std::optional<int64_t> tripsOf(LoopOp loop);

/// Whether what the loop's commands read and write may be found by its iteration: they stand in no
/// other loop inside of it.
bool isInnermost(LoopOp loop);

/// Row first + step * iteration of a gather's operand.
struct StepSlice {
  int64_t first = 0, step = 1;
};

/// A gather along the first dimension by the iteration of the loop around it, or by a constant plus
/// or less that, never outside of the operand: no kernel, but an address that moves.
std::optional<StepSlice> stepSliceOf(mlir::Operation *op);

/// Arithmetic of an iteration that such gathers alone read: nothing has to do it.
bool isStepIndex(mlir::Operation *op);

/// A slice that turns round the rows that a loop has stacked, which nobody else reads: the loop
/// can put the last one first.
bool isTurnedStack(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_STEPSLICE_H

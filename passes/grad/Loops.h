//===- Loops.h - loops that save their states for the backward pass -------===//
#ifndef DLC_PASSES_GRAD_LOOPS_H
#define DLC_PASSES_GRAD_LOOPS_H

#include "passes/TensorBuilder.h"

namespace dlc::grad {

/// Creates a copy of a loop with `trips` iterations. Its additional results are the carried values
/// at the start of each iteration, stacked.
LoopOp keepStates(LoopOp op, int64_t trips, mlir::OpBuilder &here);

/// Removes the stacked results with numbers from `first` on that have no users.
LoopOp dropUnused(LoopOp op, unsigned first);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_LOOPS_H

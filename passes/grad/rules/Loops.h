//===- Loops.h - loops that save their states for the backward pass -------===//
#ifndef DLC_PASSES_GRAD_RULES_LOOPS_H
#define DLC_PASSES_GRAD_RULES_LOOPS_H

#include "passes/TensorBuilder.h"

namespace dlc::grad {

/// Creates a copy of a loop with `trips` iterations that saves the carried values for the backward
/// pass: additional results stack the carried values at the start of each iteration.
LoopOp stackLoopStates(LoopOp op, int64_t trips, mlir::OpBuilder &here);

/// Removes those results of the loop, from number `first` on, that have no users.
LoopOp dropUnusedLoopResults(LoopOp op, unsigned first);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RULES_LOOPS_H

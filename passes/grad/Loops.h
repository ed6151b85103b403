//===- Loops.h - loops that keep what their way back needs ----------------===//
#ifndef DLC_PASSES_GRAD_LOOPS_H
#define DLC_PASSES_GRAD_LOOPS_H

#include "passes/TensorBuilder.h"

namespace dlc::grad {

/// A copy of a loop of `trips` iterations with the values that enter these stacked as further
/// results.
LoopOp keepStates(LoopOp op, int64_t trips, mlir::OpBuilder &here);

/// Drops stacked results from `first` on that nothing uses.
LoopOp dropUnused(LoopOp op, unsigned first);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_LOOPS_H

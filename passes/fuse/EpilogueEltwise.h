//===- EpilogueEltwise.h - activations as oneDNN names them ---------------===//
#ifndef DLC_PASSES_FUSE_EPILOGUEELTWISE_H
#define DLC_PASSES_FUSE_EPILOGUEELTWISE_H

#include "passes/fuse/Epilogue.h"

namespace dlc {

/// Some operations that together are one step from `from` to `result`.
struct Step {
  mlir::Value result;
  llvm::SmallVector<PostOp, 2> postOps;
  llvm::SmallVector<mlir::Operation *, 6> ops;
};

/// The step that starts at `value`: one operation with constants, or an activation spelled out in
/// several. Only operations that `inside` accepts are looked at. `exact`: the step has the bits of
/// the operations, see keepsBits.
std::optional<Step> matchEltwise(mlir::Value value, OpFilter inside, bool exact);

/// The step that multiplies `value` by the gradient of an activation (logistic, tanh, relu), in
/// terms of what that gave: the operand, of the value's own shape.
std::optional<Step> matchGradient(mlir::Value value, OpFilter inside);

/// Whether all users of what the step uses up are in the step, so that only its result is seen
/// outside.
bool isClosed(mlir::Value from, const Step &step);

/// Adds a step that follows `op` to the list. Adjacent linear steps become one where their
/// constants may be merged, and adjacent clip steps always.
void appendPostOp(llvm::SmallVectorImpl<PostOp> &postOps, PostOp postOp, mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUEELTWISE_H

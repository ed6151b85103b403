//===- EpilogueEltwise.h - matches activations as oneDNN eltwise post-ops ----===//
#ifndef DLC_PASSES_FUSE_EPILOGUEELTWISE_H
#define DLC_PASSES_FUSE_EPILOGUEELTWISE_H

#include "passes/fuse/Epilogue.h"

namespace dlc {

/// Operations on one value that are together equivalent to a list of post-ops. `result` is the
/// result of the last operation.
struct PostOpMatch {
  mlir::Value result;
  llvm::SmallVector<PostOp, 2> postOps;
  llvm::SmallVector<mlir::Operation *, 6> ops;
};

/// Matches operations on `value` that are equivalent to eltwise post-ops: one operation with
/// constants, or an activation that is composed of several operations. Only operations that
/// `inside` accepts are matched. With `exact`, the post-ops must return the same bits as the
/// operations (see requiresStrictAccuracy()).
std::optional<PostOpMatch> matchEltwise(mlir::Value value, OpFilter inside, bool exact);

/// Matches the multiplication of `value` by the gradient of an activation (logistic, tanh or ReLU),
/// if this gradient is computed from the result of the activation. This result is the operand of
/// the post-op, and has the shape of `value`.
std::optional<PostOpMatch> matchGradient(mlir::Value value, OpFilter inside);

/// Returns whether all users of `from` and of the step's intermediate results belong to the step,
/// so that only the result of the step has users outside of it.
bool hasNoOtherUsers(mlir::Value from, const PostOpMatch &step);

/// Appends an epilogue op to the list. `op` is the operation whose accuracy level applies. Adjacent
/// linear ops are merged if isRewriteAllowed() permits merging their constants; adjacent clip ops
/// are always merged.
void appendPostOp(llvm::SmallVectorImpl<PostOp> &postOps, PostOp postOp, mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUEELTWISE_H

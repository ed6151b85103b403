//===- MatchActivation.h - matches activations in an epilogue -------------===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_MATCHACTIVATION_H
#define DLC_PASSES_FUSE_EPILOGUE_MATCHACTIVATION_H

#include "passes/fuse/epilogue/Epilogue.h"

namespace dlc {

/// Operations on one value that are together equivalent to a list of epilogue ops. `result` is the
/// result of the last operation.
struct EpilogueMatch {
  mlir::Value result;
  llvm::SmallVector<EpilogueOp, 2> epilogueOps;
  llvm::SmallVector<mlir::Operation *, 6> ops;
};

/// Matches operations on `value` that are equivalent to activations: one operation with
/// constants, or an activation that is composed of several operations. Only operations that
/// `inside` accepts are matched. With `exact`, the epilogue ops must return the same bits as the
/// operations (see requiresStrictAccuracy()).
std::optional<EpilogueMatch> matchActivation(mlir::Value value, OpFilter inside, bool exact);

/// Matches the multiplication of `value` by the gradient of an activation (logistic, tanh or ReLU),
/// if this gradient is computed from the result of the activation. This result is the operand of
/// the epilogue op, and has the shape of `value`.
std::optional<EpilogueMatch> matchGradient(mlir::Value value, OpFilter inside);

/// Returns an epilogue op that is an activation with these parameters.
EpilogueOp makeActivation(Activation activation, double alpha = 0, double beta = 0);

/// Returns whether `from` and the intermediate results of the match `step` are read only by the
/// matched operations, so that only the result of the match has other users.
bool hasNoOtherUsers(mlir::Value from, const EpilogueMatch &step);

/// Appends an epilogue op to the list. `op` is the operation whose accuracy level applies. Adjacent
/// linear ops are merged if isRewriteAllowed() permits merging their constants; adjacent clip ops
/// are always merged.
void appendEpilogueOp(llvm::SmallVectorImpl<EpilogueOp> &epilogueOps, EpilogueOp epilogueOp,
                      mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_MATCHACTIVATION_H

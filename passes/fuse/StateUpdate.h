//===- StateUpdate.h - fusions that compute the new value of a state ------===//
#ifndef DLC_PASSES_FUSE_STATEUPDATE_H
#define DLC_PASSES_FUSE_STATEUPDATE_H

#include "passes/fuse/Epilogue.h"

namespace dlc {

/// Attribute of a fusion that adds the result of a contraction to a state: the number of the input
/// that its result replaces. A kernel may accumulate in place.
constexpr llvm::StringLiteral kUpdatesAttr = "dlc.updates";

bool isState(mlir::Value value);

/// Whether `old` is a state and the function returns `fresh` as its new value.
bool isStateUpdate(mlir::Value old, mlir::Value fresh);

/// Whether the last epilogue op adds a full-size operand that the kernel reads nowhere else, in the
/// element order of the result. Other multiples of this operand that are added earlier are folded
/// into that op.
bool foldUpdate(Epilogue &epilogue);

/// Sets kUpdatesAttr on the fusions of a block that add the result of a contraction to a state.
void markUpdates(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_STATEUPDATE_H

//===- StateUpdate.h - results that take the place of state ---------------===//
#ifndef DLC_PASSES_FUSE_STATEUPDATE_H
#define DLC_PASSES_FUSE_STATEUPDATE_H

#include "passes/fuse/Epilogue.h"

namespace dlc {

/// On a fusion that adds a product to state: the input that its result replaces. A kernel may add
/// in place.
constexpr llvm::StringLiteral kUpdatesAttr = "dlc.updates";

bool isState(mlir::Value value);

/// Whether `old` is state that `fresh` replaces at the end of the function.
bool isStateUpdate(mlir::Value old, mlir::Value fresh);

/// Whether the last step adds to a value that is read nowhere else in the kernel, in the result's
/// own order. Other multiples of it that are added before are gathered into that step.
bool foldUpdate(Epilogue &epilogue);

/// Marks the fusions of a block that add a product to state.
void markUpdates(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_STATEUPDATE_H

//===- StateUpdate.h - fusions that compute the new value of a state ------===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_STATEUPDATE_H
#define DLC_PASSES_FUSE_EPILOGUE_STATEUPDATE_H

#include "passes/fuse/epilogue/Epilogue.h"

namespace dlc {

bool isState(mlir::Value value);

/// Returns whether `old` is a state argument of the function and the function returns `fresh` as
/// the new value of this state.
bool isStateUpdate(mlir::Value old, mlir::Value fresh);

/// Returns whether the last epilogue op adds a full-size operand (a state) that has the element
/// order of the result and that no other part of the kernel reads. If so, removes earlier epilogue
/// ops that add multiples of the same operand, and adds their factors to that of the last op.
bool foldStateUpdate(Epilogue &epilogue);

/// Sets kUpdatesAttr on those fusions of a block that add the result of a contraction to a state.
void markStateUpdates(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_STATEUPDATE_H

//===- Rematerialised.h - what was computed a second time stays so -----------------===//
#ifndef DLC_PASSES_FUSE_REMATERIALISED_H
#define DLC_PASSES_FUSE_REMATERIALISED_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// On what is computed a second time; its first computation must not be merged with it again.
constexpr llvm::StringLiteral kRecomputedAttr = "dlc.recomputed";

/// Whether one kernel of these operations would compute now what is to be computed again later: one
/// of them is such a copy, and products stand between another one and it.
bool meetsItsCopy(llvm::ArrayRef<mlir::Operation *> ops);

/// Whether the block has such copies.
bool hasCopies(mlir::Block &block);

/// Puts what is used before its users and moves nothing else.
void sortByUse(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_REMATERIALISED_H

//===- Rematerialised.h - keeps rematerialized values separate from the originals ----===//
#ifndef DLC_PASSES_FUSE_REMATERIALISED_H
#define DLC_PASSES_FUSE_REMATERIALISED_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Attribute of a rematerialized copy, which must not be merged with the first computation of the
/// value.
constexpr llvm::StringLiteral kRecomputedAttr = "dlc.recomputed";

/// Whether a single kernel of these operations would compute a rematerialized copy too early: one
/// operation is a copy, and a contraction, pool or opaque operation is located between an earlier
/// one of them and the copy.
bool wouldHoistCopy(llvm::ArrayRef<mlir::Operation *> ops);

/// Whether the block contains rematerialized copies.
bool hasCopies(mlir::Block &block);

/// Moves operations before their users, and preserves the order otherwise.
void sortByUse(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_REMATERIALISED_H

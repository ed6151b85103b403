//===- Rematerialised.h - keeps rematerialized values separate from the originals ----===//
#ifndef DLC_PASSES_FUSE_ANALYSIS_REMATERIALISED_H
#define DLC_PASSES_FUSE_ANALYSIS_REMATERIALISED_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Returns whether fusing `ops` would compute a rematerialized copy too early. This is so if a
/// contraction, pool or opaque operation is located between the earliest operation of `ops` that is
/// not a copy and the earliest copy.
bool wouldHoistCopy(llvm::ArrayRef<mlir::Operation *> ops);

/// Returns whether the block contains rematerialized copies.
bool hasCopies(mlir::Block &block);

/// Sorts the block topologically: moves operations before their users, and otherwise preserves the
/// order.
void sortByUse(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ANALYSIS_REMATERIALISED_H

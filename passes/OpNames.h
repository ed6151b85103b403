//===- OpNames.h - user-visible names of operations -----------------------===//
#ifndef DLC_PASSES_OPNAMES_H
#define DLC_PASSES_OPNAMES_H

#include "mlir/IR/Location.h"

namespace dlc {

/// Returns whether `name` matches the glob pattern: `*` matches any number of characters, `?`
/// exactly one.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// Appends all names in an MLIR location, from the outermost to the innermost. A gradient has the
/// name of the operation that it differentiates.
void collectLocationNames(mlir::Location loc, llvm::SmallVectorImpl<llvm::StringRef> &names);

} // namespace dlc

#endif // DLC_PASSES_OPNAMES_H

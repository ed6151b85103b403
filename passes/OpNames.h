//===- OpNames.h - the names that users know operations by ----------------===//
#ifndef DLC_PASSES_OPNAMES_H
#define DLC_PASSES_OPNAMES_H

#include "mlir/IR/Location.h"

namespace dlc {

/// Whether a name is like a pattern: `*` stands for any characters, `?` for one.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// The names in a location, from the outermost on. Gradients have the names of what they are
/// gradients of.
void namesIn(mlir::Location loc, llvm::SmallVectorImpl<llvm::StringRef> &names);

} // namespace dlc

#endif // DLC_PASSES_OPNAMES_H

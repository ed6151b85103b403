//===- Attributes.h - names of the attributes that passes exchange --------===//
#ifndef DLC_IR_DLC_ATTRIBUTES_H
#define DLC_IR_DLC_ATTRIBUTES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class NamedAttribute;
class Operation;
} // namespace mlir

namespace dlc {

// Attributes.def describes each attribute.
#define ATTRIBUTE(constant, name, object, type, writers, readers, meaning)                         \
  constexpr llvm::StringLiteral constant = name;
#include "ir/dlc/Attributes.def"
#undef ATTRIBUTE

/// Verifies that an attribute with the prefix `dlc.` is in Attributes.def and has the type that the
/// table states. Reports an error on `op` otherwise.
llvm::LogicalResult verifyAttribute(mlir::Operation *op, mlir::NamedAttribute attribute);

} // namespace dlc

#endif // DLC_IR_DLC_ATTRIBUTES_H

//===- Attributes.h - names of the attributes that passes exchange --------===//
#ifndef DLC_IR_DLC_ATTRIBUTES_H
#define DLC_IR_DLC_ATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace dlc {

// Attributes.def describes each attribute.
#define ATTRIBUTE(constant, name, object, type, writers, readers, meaning)                         \
  constexpr llvm::StringLiteral constant = name;
#include "ir/dlc/Attributes.def"
#undef ATTRIBUTE

} // namespace dlc

#endif // DLC_IR_DLC_ATTRIBUTES_H

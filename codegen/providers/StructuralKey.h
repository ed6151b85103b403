//===- StructuralKey.h - structural key of an operation -------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_STRUCTURALKEY_H
#define DLC_CODEGEN_PROVIDERS_STRUCTURALKEY_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace dlc {

/// Key of everything on which an operation's candidates depend: its attributes, types and body,
/// which operands are constants, the values of small constants, and whether a loop repeats it.
/// Repeated layers of a model have equal keys. A key is valid as long as the MLIR context exists.
using StructuralKey = std::vector<const void *>;

StructuralKey computeStructuralKey(mlir::Operation *op);

} // namespace dlc
#endif

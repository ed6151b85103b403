//===- Specialize.h - static shapes for a module with dynamic ones --------------===//
#ifndef DLC_FRONTEND_MLIR_SPECIALIZE_H
#define DLC_FRONTEND_MLIR_SPECIALIZE_H

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace dlc {

/// Gives @main's arguments the shapes named, and every operation the result types that follow from
/// them.
llvm::LogicalResult specializeShapes(mlir::ModuleOp module,
                                     const std::map<std::string, std::vector<int64_t>> &shapes);

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_SPECIALIZE_H

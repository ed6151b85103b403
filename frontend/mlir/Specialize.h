//===- Specialize.h - static shapes for a module with dynamic ones --------------===//
#ifndef DLC_FRONTEND_MLIR_SPECIALIZE_H
#define DLC_FRONTEND_MLIR_SPECIALIZE_H

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace dlc {

/// Sets static shapes for the arguments of @main by name and infers the result types of all
/// operations again.
llvm::LogicalResult specializeShapes(mlir::ModuleOp module,
                                     const std::map<std::string, std::vector<int64_t>> &shapes);

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_SPECIALIZE_H

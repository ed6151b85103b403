//===- Import.h - imports StableHLO modules as dlc modules --------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_IMPORT_H
#define DLC_FRONTEND_MLIR_STABLEHLO_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace dlc {

/// Adds the dialects of StableHLO modules to a registry.
void registerStablehloDialects(mlir::DialectRegistry &registry);

/// Returns whether a module contains StableHLO operations.
bool isStablehlo(mlir::ModuleOp module);

/// Imports a StableHLO module as a module with a function `@main` of dlc operations. Functions that
/// `@main` calls are inlined. Errors are reported as diagnostics on the context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importStablehlo(mlir::ModuleOp module);

/// Returns the names of the operations and custom_call targets that have a handler.
std::vector<std::string> stablehloOperations();
std::vector<std::string> stablehloCustomCalls();

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_STABLEHLO_IMPORT_H

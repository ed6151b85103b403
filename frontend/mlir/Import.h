//===- Import.h - imports modules from MLIR text --------------------------===//
#ifndef DLC_FRONTEND_MLIR_IMPORT_H
#define DLC_FRONTEND_MLIR_IMPORT_H

#include "frontend/FrontEnd.h"

namespace dlc {

/// Parses the whole MLIR file. The returned info owns the parsed module.
mlir::FailureOr<ImportInfo> inspectMlir(mlir::MLIRContext &context, llvm::StringRef path);

/// Returns the inputs, outputs and states of a module that is already parsed. The returned info
/// owns the module.
mlir::FailureOr<ImportInfo> inspectModule(mlir::OwningOpRef<mlir::ModuleOp> module);

/// Imports an MLIR file with static shapes: returns a copy of the module in `info`, or parses the
/// file again if `info` is null or has another context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importMlir(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_IMPORT_H

//===- Import.h - imports modules from MLIR text --------------------------===//
#ifndef DLC_FRONTEND_MLIR_IMPORT_H
#define DLC_FRONTEND_MLIR_IMPORT_H

#include "frontend/FrontEnd.h"

namespace dlc {

/// Parses the whole file. The returned info holds the module.
mlir::FailureOr<ImportInfo> inspectMlir(mlir::MLIRContext &context, llvm::StringRef path);

/// Does the same for a module that has been parsed already.
mlir::FailureOr<ImportInfo> inspectModule(mlir::OwningOpRef<mlir::ModuleOp> module);

/// Returns a copy of the inspected module, or parses the file again if the context differs. Applies
/// the given shapes.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importMlir(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_IMPORT_H

//===- Import.h - text of dlc operations to a module of them ------------------===//
#ifndef DLC_FRONTEND_MLIR_IMPORT_H
#define DLC_FRONTEND_MLIR_IMPORT_H

#include "frontend/FrontEnd.h"

namespace dlc {

/// Reads the file whole; the module stays with what is returned.
mlir::FailureOr<ImportInfo> inspectMlir(mlir::MLIRContext &context, llvm::StringRef path);

/// The same for a module that is there already.
mlir::FailureOr<ImportInfo> inspectModule(mlir::OwningOpRef<mlir::ModuleOp> module);

/// A copy of what was inspected, or of the file read again in another context, with the shapes
/// given.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importMlir(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_MLIR_IMPORT_H

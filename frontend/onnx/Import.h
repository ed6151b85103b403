//===- Import.h - imports an ONNX model file as a dlc module --------------===//
#ifndef DLC_FRONTEND_ONNX_IMPORT_H
#define DLC_FRONTEND_ONNX_IMPORT_H

#include "frontend/FrontEnd.h"

namespace dlc {

/// Imports an ONNX model as a module of the dlc dialect. Errors are reported as diagnostics on the
/// context. `info` may be null.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

/// Reads only the inputs and outputs of an ONNX model, without importing its nodes.
mlir::FailureOr<ImportInfo> inspectOnnx(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace dlc

#endif // DLC_FRONTEND_ONNX_IMPORT_H

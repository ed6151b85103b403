//===- Import.h - imports graphs of ATen operators as dlc modules ---------===//
#ifndef DLC_FRONTEND_ATEN_IMPORT_H
#define DLC_FRONTEND_ATEN_IMPORT_H

#include "frontend/FrontEnd.h"

#include <functional>

namespace dlc {

/// Maps the name of a constant to its elements. Returns an empty tensor for an unknown name.
using AtenConstants = std::function<ref::Tensor(llvm::StringRef name, mlir::RankedTensorType type)>;

/// Imports a graph's text (README.md describes the format) as a module with a function `@main`.
/// Errors are reported as diagnostics on the context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importAtenText(mlir::MLIRContext &context, llvm::StringRef text, const AtenConstants &constants);

/// Returns the overloads that have a handler, such as "add.Tensor".
std::vector<std::string> atenOperators();

/// Reason why a node of a graph cannot be imported.
struct AtenRefusal {
  std::string node, reason;
};

/// Imports each node separately, with operands of the types that the text records, and returns the
/// failures. Fails if the text itself is invalid.
mlir::FailureOr<std::vector<AtenRefusal>> examineAtenText(mlir::MLIRContext &context,
                                                          llvm::StringRef text);

/// Inspects and imports a file that contains the elements of its constants.
mlir::FailureOr<ImportInfo> inspectAten(mlir::MLIRContext &context, llvm::StringRef path);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importAten(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_ATEN_IMPORT_H

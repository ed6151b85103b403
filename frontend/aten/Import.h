//===- Import.h - imports graphs of ATen operators as dlc modules ---------===//
#ifndef DLC_FRONTEND_ATEN_IMPORT_H
#define DLC_FRONTEND_ATEN_IMPORT_H

#include "frontend/FrontEnd.h"

#include <functional>

namespace dlc {

/// Returns the elements of the constant with the given name, or an empty tensor for an unknown
/// name.
using AtenConstants = std::function<ref::Tensor(llvm::StringRef name, mlir::RankedTensorType type)>;

/// Imports the JSON text of an ATen graph (README.md describes the format) as a module with a
/// function `@main`. Errors are reported as diagnostics on the context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importAtenText(mlir::MLIRContext &context, llvm::StringRef text, const AtenConstants &constants);

/// Returns the names of the ATen operator overloads that have a handler, such as "add.Tensor".
std::vector<std::string> atenOperators();

/// A node that cannot be imported, with the reason.
struct UnsupportedAtenNode {
  std::string node, reason;
};

/// Imports each node of the graph separately, with operands of the types that the text records, and
/// returns the nodes that fail with their reasons. Fails only if the text itself is invalid.
mlir::FailureOr<std::vector<UnsupportedAtenNode>>
findUnsupportedAtenNodes(mlir::MLIRContext &context, llvm::StringRef text);

/// Inspects or imports a graph file that also contains the elements of its constants.
mlir::FailureOr<ImportInfo> inspectAten(mlir::MLIRContext &context, llvm::StringRef path);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importAten(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_ATEN_IMPORT_H

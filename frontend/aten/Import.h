//===- Import.h - graphs of ATen operators become dlc modules -------------===//
#ifndef DLC_FRONTEND_ATEN_IMPORT_H
#define DLC_FRONTEND_ATEN_IMPORT_H

#include "frontend/FrontEnd.h"

#include <functional>

namespace dlc {

/// From the name of a constant to its elements; an empty tensor for a name that is none.
using AtenConstants = std::function<ref::Tensor(llvm::StringRef name, mlir::RankedTensorType type)>;

/// A graph's text (README.md says what stands in it) as a module with a function `@main`. Errors
/// are diagnostics on the context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importAtenText(mlir::MLIRContext &context, llvm::StringRef text, const AtenConstants &constants);

/// The overloads that have a row in a table: "add.Tensor".
std::vector<std::string> atenOperators();

/// What hinders a node of a graph from being imported.
struct AtenRefusal {
  std::string node, reason;
};

/// Tries each node alone, on operands of the types that the text gives them. Fails where the text
/// itself is wrong.
mlir::FailureOr<std::vector<AtenRefusal>> examineAtenText(mlir::MLIRContext &context,
                                                          llvm::StringRef text);

/// The same of a file, whose constants have their elements in it.
mlir::FailureOr<ImportInfo> inspectAten(mlir::MLIRContext &context, llvm::StringRef path);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importAten(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_ATEN_IMPORT_H

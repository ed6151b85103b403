//===- SplitNames.h - user requests to split parameters -------------------===//
#ifndef DLC_PASSES_SHARE_SPLITNAMES_H
#define DLC_PASSES_SHARE_SPLITNAMES_H

#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::share {

/// Returns whether the option `--split` requests a split of the parameter with this name.
bool isSplit(const ModelOptions &options, llvm::StringRef parameter);

/// Sets the split attributes that the options request on the parameters of @main. Fails with a
/// diagnostic if an option cannot be parsed, or if a parameter or a dimension does not exist.
llvm::LogicalResult annotateSplitParameters(mlir::ModuleOp module, const ModelOptions &options);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SPLITNAMES_H

//===- SplitNames.h - which parameters users ask to split ----------------------===//
#ifndef DLC_PASSES_SHARE_SPLITNAMES_H
#define DLC_PASSES_SHARE_SPLITNAMES_H

#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::share {

/// Whether the options ask for a parameter of that name.
bool isSplit(const ModelOptions &options, llvm::StringRef parameter);

/// Gives the parameters of @main the annotations that the options ask for. Fails with a diagnostic
/// where a text, a name or a dimension cannot be.
llvm::LogicalResult annotate(mlir::ModuleOp module, const ModelOptions &options);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SPLITNAMES_H

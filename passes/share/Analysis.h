//===- Analysis.h - how each value of a function is split over ranks ------===//
#ifndef DLC_PASSES_SHARE_ANALYSIS_H
#define DLC_PASSES_SHARE_ANALYSIS_H

#include "passes/share/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::share {

struct ProgramShares {
  llvm::DenseMap<mlir::Value, Share> values;
  llvm::DenseMap<mlir::Operation *, OpShares> operations;
  /// Required distribution over the ranks of each function result.
  llvm::SmallVector<Share> results;
  int64_t ranks = 1;
};

/// Returns the number of ranks in the function's split annotations, 0 if there are none, or an
/// error if they differ.
mlir::FailureOr<int64_t> getRankCount(mlir::func::FuncOp function);

/// Determines how each value is distributed over the ranks, by propagation from the annotated
/// arguments. A state whose new value is split is split in the same way.
mlir::FailureOr<ProgramShares> computeShares(mlir::func::FuncOp function, int64_t ranks);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_ANALYSIS_H

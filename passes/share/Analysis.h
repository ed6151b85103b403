//===- Analysis.h - how every value of a function is shared --------------------===//
#ifndef DLC_PASSES_SHARE_ANALYSIS_H
#define DLC_PASSES_SHARE_ANALYSIS_H

#include "passes/share/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::share {

/// On an argument or a result: a dimension, the number of ranks, and of blocks. Split is asked for;
/// a part is what it is once the type is that of a part.
constexpr llvm::StringLiteral kSplitAttr = "dlc.split", kPartAttr = "dlc.part";

struct Shares {
  llvm::DenseMap<mlir::Value, Share> values;
  llvm::DenseMap<mlir::Operation *, OpShares> operations;
  /// As the function is to give its results.
  llvm::SmallVector<Share> results;
  int64_t ranks = 1;
};

/// Ranks of its annotations; nothing where there are none, an error where they differ.
mlir::FailureOr<int64_t> ranksOf(mlir::func::FuncOp function);

/// From the annotated arguments on. States whose new values are split are split like these.
mlir::FailureOr<Shares> sharesOf(mlir::func::FuncOp function, int64_t ranks);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_ANALYSIS_H

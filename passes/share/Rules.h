//===- Rules.h - propagation of shares through operations -----------------===//
#ifndef DLC_PASSES_SHARE_RULES_H
#define DLC_PASSES_SHARE_RULES_H

#include "passes/share/Share.h"

#include "mlir/IR/Operation.h"

namespace dlc::share {

/// Operation that must follow the local computation on each rank.
enum class Completion {
  Nothing,
  Divide,   ///< divide a mean over a part by the number of ranks
  Greatest, ///< all-reduce with the maximum
  Gather    ///< all-gather; `gathered` is the share of the local result
};

/// How an operation is executed on each rank: shares (distributions over the ranks) of its operands
/// and results.
struct OpShares {
  /// Required distributions of the operands, and distributions of the results.
  llvm::SmallVector<Share, 4> operands, results;
  Completion after = Completion::Nothing;
  Share gathered;
  /// Number of the operand (a bias) that is divided by the number of ranks, so that the sum of all
  /// ranks' partial sums contains it once.
  std::optional<unsigned> divided;
  /// Whether a gather from a table, or a scatter-add into a table, runs on a table that is split by
  /// rows: each rank has some of the table's rows.
  bool byRows = false;
};

/// Returns the distributions over ranks for an operation whose operands have the distributions
/// `given`. `wanted` is the preferred distribution of the first result, or null if there is no
/// preference. Fails with an error that names the parameter, the dimension and a fix.
mlir::FailureOr<OpShares> computeShares(mlir::Operation *op, llvm::ArrayRef<Share> given,
                                        const Share *wanted, int64_t ranks);

/// Returns whether the operation can compute only this rank's part of its result from whole
/// operands. This saves work if the result updates a tensor that is split.
bool canSplitScatter(mlir::Operation *op, const Share &wanted);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_RULES_H

//===- Rules.h - propagation of shares through operations -----------------===//
#ifndef DLC_PASSES_SHARE_RULES_H
#define DLC_PASSES_SHARE_RULES_H

#include "passes/share/Share.h"

#include "mlir/IR/Operation.h"

namespace dlc::share {

/// Step that follows the local computation on each rank.
enum class After {
  Nothing,
  Divide,   ///< divide a mean over a part by the number of ranks
  Greatest, ///< all-reduce of maxima
  Gather    ///< all-gather; `gathered` is the share of the local result
};

/// Execution of an operation on each rank.
struct OpShares {
  /// Required shares of the operands, and shares of the results.
  llvm::SmallVector<Share, 4> operands, results;
  After after = After::Nothing;
  Share gathered;
  /// Operand that is divided by the number of ranks (a bias), so that the sum of all ranks' terms
  /// contains it once.
  std::optional<unsigned> divided;
  /// For a gather from a table, or a scatter-add into a table: each rank has some of the table's
  /// rows.
  bool byRows = false;
};

/// Returns the shares of an operation whose operands have the shares `given`. `wanted` is the
/// preferred share of the first result, or null if there is no preference. Fails with an error that
/// names the parameter, the dimension and a fix.
mlir::FailureOr<OpShares> sharesOf(mlir::Operation *op, llvm::ArrayRef<Share> given,
                                   const Share *wanted, int64_t ranks);

/// Returns whether the operation can compute a part of its result from whole operands. This saves
/// work if the result updates a tensor that is split.
bool canChoose(mlir::Operation *op, const Share &wanted);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_RULES_H

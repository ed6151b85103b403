//===- Rules.h - what each operation makes of shared operands ------------------===//
#ifndef DLC_PASSES_SHARE_RULES_H
#define DLC_PASSES_SHARE_RULES_H

#include "passes/share/Share.h"

#include "mlir/IR/Operation.h"

namespace dlc::share {

/// What is left to do once each rank has computed its own.
enum class After {
  Nothing,
  Divide,   ///< a mean over a part: by the number of ranks
  Greatest, ///< an all-reduce of maxima
  Gather    ///< an all-gather: `gathered` says of what
};

/// How an operation is done on each rank.
struct OpShares {
  /// As it needs its operands, and as its results come.
  llvm::SmallVector<Share, 4> operands, results;
  After after = After::Nothing;
  Share gathered;
  /// An operand that each rank adds its share of: once in the sum of all terms.
  std::optional<unsigned> divided;
  /// Of a look-up, or of the sum into places: each rank has some of the rows.
  bool byRows = false;
};

/// For operands that are shared as given. `wanted`: how the first result is to be, where that can
/// be chosen; null elsewhere. Fails with an error that names the parameter, the dimension and the
/// mend.
mlir::FailureOr<OpShares> sharesOf(mlir::Operation *op, llvm::ArrayRef<Share> given,
                                   const Share *wanted, int64_t ranks);

/// Whether the operation may give a part although its operands are whole: when what is updated with
/// its result is split.
bool canChoose(mlir::Operation *op, const Share &wanted);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_RULES_H

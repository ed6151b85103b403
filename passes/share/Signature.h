//===- Signature.h - which dimensions of an operation go together --------------===//
#ifndef DLC_PASSES_SHARE_SIGNATURE_H
#define DLC_PASSES_SHARE_SIGNATURE_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace dlc::share {

/// A dimension that must be whole.
constexpr int kWhole = -1;

/// How terms along a dimension that the result does not have become one.
enum class Folded { Sum, Mean, Max };

/// A label for each dimension of operands and results. An operation can be done in parts along the
/// dimensions of one label: what it gives for a part follows from the operands' parts alone, or
/// (labels from `firstFolded` on) is a term of the result.
struct Signature {
  using Labels = llvm::SmallVector<int, 6>;
  llvm::SmallVector<Labels, 4> operands, results;
  int firstFolded = 1 << 16;
  Folded folded = Folded::Sum;

  bool isFolded(int label) const { return label >= firstFolded; }
};

/// The operand that is added to a product, one for each channel of the result (its second
/// dimension): of terms that are summed each has a share of it.
std::optional<unsigned> biasOf(mlir::Operation *op);

/// Of static shapes: from the operation's map of indices where it has one; nothing where it must be
/// done whole.
std::optional<Signature> signatureOf(mlir::Operation *op);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SIGNATURE_H

//===- Signature.h - dimensions along which an operation can be split -----===//
#ifndef DLC_PASSES_SHARE_SIGNATURE_H
#define DLC_PASSES_SHARE_SIGNATURE_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace dlc::share {

/// Label of a dimension that must not be split.
constexpr int kWhole = -1;

/// Reduction over a dimension that the result does not have.
enum class Folded { Sum, Mean, Max };

/// Label of each dimension of operands and results. An operation can be split along the dimensions
/// that have one label. Either the result's part depends only on the operands' parts, or (for
/// labels from `firstFolded` on) each part yields a term of the result.
struct Signature {
  using Labels = llvm::SmallVector<int, 6>;
  llvm::SmallVector<Labels, 4> operands, results;
  int firstFolded = 1 << 16;
  Folded folded = Folded::Sum;

  bool isFolded(int label) const { return label >= firstFolded; }
};

/// Returns the index of the bias operand of a convolution, which has one element per channel (the
/// second dimension of the result). If the result is a sum of the ranks' terms, each rank adds a
/// fraction of the bias.
std::optional<unsigned> biasOf(mlir::Operation *op);

/// Returns the signature of an operation with static shapes, derived from its index map if it has
/// one. Returns nullopt if the operation must not be split.
std::optional<Signature> signatureOf(mlir::Operation *op);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SIGNATURE_H

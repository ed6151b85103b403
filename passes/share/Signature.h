//===- Signature.h - dimensions along which an operation can be split -----===//
#ifndef DLC_PASSES_SHARE_SIGNATURE_H
#define DLC_PASSES_SHARE_SIGNATURE_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace dlc::share {

/// Label of a dimension along which the operation must not be split.
constexpr int kWhole = -1;

/// Kind of reduction over a dimension that the operands have and the result does not.
enum class PartialReduction { Sum, Mean, Max };

/// Einsum-like labels of the dimensions of operands and results. An operation can be split along
/// all dimensions that share a label. Labels from `firstFolded` on are reduction dimensions: each
/// rank's part then yields a partial result. With other labels, each part of the result depends
/// only on the operands' parts.
struct SplitSignature {
  using Labels = llvm::SmallVector<int, 6>;
  llvm::SmallVector<Labels, 4> operands, results;
  int firstFolded = 1 << 16;
  PartialReduction folded = PartialReduction::Sum;

  bool isFolded(int label) const { return label >= firstFolded; }
};

/// Returns the index of the bias operand of a convolution, which has one element per channel (the
/// second dimension of the result). If the result is a sum of the ranks' partial sums, each rank
/// adds a fraction of the bias.
std::optional<unsigned> findBiasOperand(mlir::Operation *op);

/// Returns the labels along which an operation with static shapes can be split, derived from its
/// index map if it has one. Returns nullopt if the operation must not be split.
std::optional<SplitSignature> getSignature(mlir::Operation *op);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SIGNATURE_H

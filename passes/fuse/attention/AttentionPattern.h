//===- AttentionPattern.h - matches attention composed of matmuls and a softmax ----===//
#ifndef DLC_PASSES_FUSE_ATTENTION_ATTENTIONPATTERN_H
#define DLC_PASSES_FUSE_ATTENTION_ATTENTIONPATTERN_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Attention that a model composes of separate operations: softmax(scale * q k^T + mask) v. If the
/// mask hides a whole row by -inf, the separate operations return NaN for this row, and AttentionOp
/// returns 0.
struct AttentionPattern {
  MatmulOp result;
  llvm::SmallVector<mlir::Operation *> ops;              ///< all matched operations, users first
  mlir::Value q, k, v, mask;                             ///< mask: null if there is none
  bool keysTransposed = false, valuesTransposed = false; ///< k is [.., D, S], v is [.., E, S]
  double scale = 1;

  /// Matches the matmuls, scaling and mask around a softmax. The scores and attention weights must
  /// have no other users. Returns nullopt if the operations are not attention.
  static std::optional<AttentionPattern> match(SoftmaxOp softmax);

  /// Creates an AttentionOp that is equivalent to the matched operations, which remain.
  AttentionOp make(mlir::OpBuilder &builder) const;
  /// Replaces the matched operations by the AttentionOp `whole`.
  void replaceBy(AttentionOp whole);
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_ATTENTION_ATTENTIONPATTERN_H

//===- SpelledAttention.h - attention written as products and a softmax ---===//
#ifndef DLC_PASSES_FUSE_SPELLEDATTENTION_H
#define DLC_PASSES_FUSE_SPELLEDATTENTION_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// softmax(scale * q k^T + mask) v, operation by operation. A row that the mask hides whole with
/// -inf is NaN as it is spelled, and 0 as attention.
struct SpelledAttention {
  MatmulOp result;
  llvm::SmallVector<mlir::Operation *> ops;            ///< all, users first
  mlir::Value q, k, v, mask;                           ///< mask: null where there is none
  bool keysLieAcross = false, valuesLieAcross = false; ///< k is [.., D, S], v is [.., E, S]
  double scale = 1;

  /// Around a softmax whose scores and weights nobody else reads.
  static std::optional<SpelledAttention> match(SoftmaxOp softmax);

  /// Beside the operations, which stay.
  AttentionOp make(mlir::OpBuilder &builder) const;
  /// And takes their place.
  void replaceBy(AttentionOp whole);
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_SPELLEDATTENTION_H

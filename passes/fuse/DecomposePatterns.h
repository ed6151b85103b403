//===- DecomposePatterns.h - decomposition patterns, by family of operations ----===//
#ifndef DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H
#define DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// softmax, log_softmax, layer_norm, group_norm, rms_norm, batch_norm, lrn.
void addNormDecompositions(mlir::RewritePatternSet &patterns);

/// batch_norm_train, batch_norm_grad.
void addBatchNormDecompositions(mlir::RewritePatternSet &patterns);

/// attention, attention_train, attention_grad, unless a fused kernel computes them.
void addAttentionDecompositions(mlir::RewritePatternSet &patterns);

/// lstm, gru, rnn, unless a library computes the layer.
void addRecurrentDecompositions(mlir::RewritePatternSet &patterns);

/// Folds casts of constants, for GPUs.
void addConstantCasts(mlir::RewritePatternSet &patterns);

/// arg_reduce and topk of the single largest element: on processors, and along rows on GPUs.
void addSearchDecompositions(mlir::RewritePatternSet &patterns);

/// Matmuls whose right operand repeats matrices that several attention heads share: removes the
/// repetition.
void addGroupedProducts(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

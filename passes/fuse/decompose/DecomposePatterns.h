//===- DecomposePatterns.h - decomposition patterns, by family of operations ----===//
#ifndef DLC_PASSES_FUSE_DECOMPOSE_DECOMPOSEPATTERNS_H
#define DLC_PASSES_FUSE_DECOMPOSE_DECOMPOSEPATTERNS_H

#include "passes/TensorBuilder.h"

namespace dlc {

class Costs;

/// Adds patterns that decompose normalizations: softmax, log_softmax, layer_norm, group_norm,
/// rms_norm, batch_norm and lrn.
void addNormDecompositions(mlir::RewritePatternSet &patterns);

/// Adds patterns that decompose batch normalization in training: batch_norm_train and
/// batch_norm_grad.
void addBatchNormDecompositions(mlir::RewritePatternSet &patterns);

/// Adds patterns that decompose attention, attention_train and attention_grad, unless a fused
/// kernel computes them.
void addAttentionDecompositions(mlir::RewritePatternSet &patterns);

/// Adds patterns that decompose the recurrent layers lstm, gru and rnn, unless a library computes
/// the layer. Without `costs`, libraries are assumed to compute all layers in f32.
void addRecurrentDecompositions(mlir::RewritePatternSet &patterns, Costs *costs);

/// Adds a pattern that folds casts of constants on GPUs.
void addConstantCasts(mlir::RewritePatternSet &patterns);

/// Adds patterns that decompose arg_reduce, and topk of the single largest element, into vectorized
/// reductions: on CPUs along any dimension, on GPUs along rows.
void addSearchDecompositions(mlir::RewritePatternSet &patterns);

/// Adds a pattern for matmuls whose right operand repeats matrices that several attention heads
/// share (grouped-query attention): removes the repetition.
void addGroupedMatmulPatterns(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_FUSE_DECOMPOSE_DECOMPOSEPATTERNS_H

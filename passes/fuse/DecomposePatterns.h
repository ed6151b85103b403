//===- DecomposePatterns.h - the decompositions, by family ----------------===//
#ifndef DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H
#define DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// softmax, log_softmax, layer_norm, rms_norm, batch_norm, lrn.
void addNormDecompositions(mlir::RewritePatternSet &patterns);

/// batch_norm_train, batch_norm_grad.
void addBatchNormDecompositions(mlir::RewritePatternSet &patterns);

/// attention, attention_train, attention_grad: those that no kernel does whole.
void addAttentionDecompositions(mlir::RewritePatternSet &patterns);

/// lstm, gru, rnn: those that the library does not do whole.
void addRecurrentDecompositions(mlir::RewritePatternSet &patterns);

/// What constants are cast to, for GPUs.
void addConstantCasts(mlir::RewritePatternSet &patterns);

/// arg_reduce, and the largest element, on processors, and along rows on GPUs.
void addSearchDecompositions(mlir::RewritePatternSet &patterns);

/// Products by matrices that several heads share, which need not stand there once for each.
void addGroupedProducts(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

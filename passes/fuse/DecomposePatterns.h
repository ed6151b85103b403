//===- DecomposePatterns.h - the decompositions, by family ----------------===//
#ifndef DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H
#define DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// softmax, log_softmax, layer_norm, rms_norm, batch_norm, lrn.
void addNormDecompositions(mlir::RewritePatternSet &patterns);
/// The type that statistics of a value are kept in: f32 for the 16-bit floats.
mlir::Type statisticsType(mlir::Value x);
/// softmax(x) along some axes, in x's element type. Rows that are -inf throughout give 0 where
/// `hidden` says that there may be such, and NaN else.
mlir::Value softmaxOf(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool hidden);

/// lstm, gru, rnn: those that the library does not do whole.
void addRecurrentDecompositions(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

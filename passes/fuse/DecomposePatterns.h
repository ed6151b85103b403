//===- DecomposePatterns.h - the decompositions, by family ----------------===//
#ifndef DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H
#define DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace dlc {

/// softmax, log_softmax, layer_norm, rms_norm, batch_norm, lrn.
void addNormDecompositions(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_FUSE_DECOMPOSEPATTERNS_H

//===- Patterns.h - pattern sets of the simplify pass ---------------------===//
#ifndef DLC_PASSES_SIMPLIFY_PATTERNS_H
#define DLC_PASSES_SIMPLIFY_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace dlc {

/// What rewrites must preserve: values only, or also subgradients. With `Subgradients`, operations
/// that a later dlc.gradient differentiates keep their values and also their gradients at ties,
/// kinks and bounds.
enum class Exactness { Values, Subgradients };

/// Adds a pattern that evaluates operations whose operands are all constants.
void addConstantFolding(mlir::RewritePatternSet &patterns);
/// Adds patterns that simplify powers, square roots, chains of constant operands, and maxima with
/// 0.
void addArithmetic(mlir::RewritePatternSet &patterns, Exactness exactness);
/// Adds patterns that recognize GELU and Mish in the operations that exporters write.
void addActivations(mlir::RewritePatternSet &patterns);
/// Adds patterns that fold batch normalization and per-channel scales and offsets into the weights
/// and bias of a convolution.
void addConvFolding(mlir::RewritePatternSet &patterns);
/// Adds patterns that fold padding into the following convolution or pool.
void addPadFolding(mlir::RewritePatternSet &patterns);
/// Adds a pattern that removes the window elements of convolutions that only ever read padding.
void addTaps(mlir::RewritePatternSet &patterns);
/// Adds patterns that rewrite gathers at constant indices to slices, gathers of extrema to
/// reductions, and scatters of whole rows to scatter_nd, and that remove redundant broadcasts.
void addIndexing(mlir::RewritePatternSet &patterns, Exactness exactness);
/// Adds patterns that push slices, dimension merges and reductions into the operands of
/// concatenations.
void addConcats(mlir::RewritePatternSet &patterns, Exactness exactness);
/// Adds patterns that rewrite scatters and gathers at all indices of a box (hyperrectangle) to
/// slices and concatenations.
void addBoxPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns that sink transposes until they meet their inverse or a matmul, and hoist reshapes
/// that split dimensions.
void addTransposes(mlir::RewritePatternSet &patterns);
/// Adds patterns that recognize group normalization, also as row normalization of a reshaped image,
/// and fold its parameters.
void addNorms(mlir::RewritePatternSet &patterns);
/// Adds patterns that move scalar factors from the operands of matmuls to the result.
void addMatmuls(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_SIMPLIFY_PATTERNS_H

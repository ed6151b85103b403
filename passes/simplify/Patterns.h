//===- Patterns.h - pattern sets of the simplify pass ---------------------===//
#ifndef DLC_PASSES_SIMPLIFY_PATTERNS_H
#define DLC_PASSES_SIMPLIFY_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace dlc {

/// What rewrites must preserve. With `Subgradients`, operations that a later dlc.gradient
/// differentiates keep their values and also their gradients at ties, kinks and bounds.
enum class Preserves { Values, Subgradients };

/// Evaluates operations whose operands are all constants.
void addConstantFolding(mlir::RewritePatternSet &patterns);
/// Simplifies powers, square roots, chains of constant operands, and maxima with 0.
void addArithmetic(mlir::RewritePatternSet &patterns, Preserves preserves);
/// Recognizes GELU and Mish as exporters write them.
void addActivations(mlir::RewritePatternSet &patterns);
/// Folds batch normalization and per-channel scales and offsets into the weights and bias of a
/// convolution.
void addConvFolding(mlir::RewritePatternSet &patterns);
/// Folds padding into the following convolution or pool.
void addPadFolding(mlir::RewritePatternSet &patterns);
/// Removes window elements of convolutions that only ever read padding.
void addTaps(mlir::RewritePatternSet &patterns);
/// Rewrites gathers at constant indices to slices, gathers of extrema to reductions and scatters of
/// whole rows to scatter_nd. Removes redundant broadcasts.
void addIndexing(mlir::RewritePatternSet &patterns, Preserves preserves);
/// Pushes slices, dimension merges and reductions into the operands of concatenations.
void addConcats(mlir::RewritePatternSet &patterns, Preserves preserves);
/// Rewrites scatters and gathers at all indices of a box to slices and concatenations.
void addBoxes(mlir::RewritePatternSet &patterns);
/// Sinks transposes until they meet their inverse or a matmul, and hoists reshapes that split
/// dimensions.
void addTransposes(mlir::RewritePatternSet &patterns);
/// Recognizes group normalization, also as row normalization of a reshaped image, and folds its
/// parameters.
void addNorms(mlir::RewritePatternSet &patterns);
/// Moves scalar factors from the operands of matmuls to the result.
void addMatmuls(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_SIMPLIFY_PATTERNS_H

//===- Patterns.h - the simplifications, by idea --------------------------===//
#ifndef DLC_PASSES_SIMPLIFY_PATTERNS_H
#define DLC_PASSES_SIMPLIFY_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace dlc {

/// What rewrites have to keep. With `Subgradients`, operations that a later dlc.gradient
/// differentiates keep their gradients at ties, kinks and bounds as well as their values.
enum class Keeps { Values, Subgradients };

/// Evaluates operations whose operands are all constants.
void addConstantFolding(mlir::RewritePatternSet &patterns);
/// Numbers: powers, square roots, chains of constants, maxima with 0.
void addArithmetic(mlir::RewritePatternSet &patterns, Keeps keeps);
/// GELU and Mish in the spellings of the exporters.
void addActivations(mlir::RewritePatternSet &patterns);
/// Batch norm, and products and sums per channel, into a convolution's weights and bias.
void addConvFolding(mlir::RewritePatternSet &patterns);
/// Padding into the convolution or pool that follows.
void addPadFolding(mlir::RewritePatternSet &patterns);
/// Taps of windows that only ever meet padding.
void addTaps(mlir::RewritePatternSet &patterns);
/// Gathers at constant places as slices, gathers of extremes as reductions, scatters of whole rows,
/// needless broadcasts.
void addIndexing(mlir::RewritePatternSet &patterns, Keeps keeps);
/// Slices, merged dimensions and reductions of concatenations, part by part.
void addConcats(mlir::RewritePatternSet &patterns, Keeps keeps);
/// Scatters and gathers at all places of a box as slices and concatenations.
void addBoxes(mlir::RewritePatternSet &patterns);
/// Transpositions downwards until they meet their inverse or a product; splitting reshapes upwards.
void addTransposes(mlir::RewritePatternSet &patterns);
/// Group norm, also spelled as rows of merged images, with its parameters.
void addNorms(mlir::RewritePatternSet &patterns);
/// Scalar factors out of matrix products.
void addMatmuls(mlir::RewritePatternSet &patterns);

} // namespace dlc

#endif // DLC_PASSES_SIMPLIFY_PATTERNS_H

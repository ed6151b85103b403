//===- Unfold.h - convolutions of integers as products ---------------------===//
#ifndef DLC_PASSES_QUANTIZE_UNFOLD_H
#define DLC_PASSES_QUANTIZE_UNFOLD_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Whether a convolution in i32 of 8-bit integers by weights that only constants make, all of them
/// those of i8, may become a product: of one group, of more than a few weights, and with unfolded
/// images of a moderate size.
bool canUnfold(ConvOp conv);

/// The sums of a product in the convolution's shape: of the elements that each window reads, which
/// lie together as [N, taps C, positions], and weights [O, taps C]. It is a view of the product.
mlir::Value unfolded(ConvOp conv, TensorBuilder &b);

/// Elementwise steps behind such a view come before it, up to one that leaves 8 bits, where nothing
/// else reads what they read: so they follow the product at once.
void keepInRows(mlir::Value unfolded);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_UNFOLD_H

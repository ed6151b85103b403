//===- Unfold.h - convolutions of integers as matmuls (im2col) -------------===//
#ifndef DLC_PASSES_QUANTIZE_UNFOLD_H
#define DLC_PASSES_QUANTIZE_UNFOLD_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Checks that an i32 convolution of 8-bit integers may become a matmul: one group, constant
/// weights that fit i8, at least a few thousand of them, and unfolded images that fit the caches.
bool canUnfold(ConvOp conv);

/// Builds the matmul of unfolded images [N, taps C, positions] by weights [O, taps C]. Returns a
/// transpose and reshape of it, with the shape of the convolution's result.
mlir::Value unfolded(ConvOp conv, TensorBuilder &b);

/// Moves elementwise users of such a view before it, up to the first with an 8-bit result, as long
/// as each value has one user. They then follow the matmul directly and fuse with it.
void keepInRows(mlir::Value unfolded);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_UNFOLD_H

//===- Unfold.h - convolutions of integers as matmuls (im2col) -------------===//
#ifndef DLC_PASSES_QUANTIZE_UNFOLD_H
#define DLC_PASSES_QUANTIZE_UNFOLD_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Checks that a convolution of integers may be computed as a matmul by im2col: one group, at least
/// a few thousand weights, and unfolded images that fit the caches. `zeroPoint` is the zero point
/// of x before any cast. Windows are padded with it, so that it must be representable in x's type.
bool canUnfold(ConvOp conv, mlir::Value zeroPoint);

/// Builds the matmul of unfolded images [N, taps C, positions] by constant i8 weights [O, taps C].
/// Returns a transpose and reshape of its result, with the shape of the convolution's result.
mlir::Value convToIm2colMatmul(ConvOp conv, mlir::Value zeroPoint, TensorBuilder &b);

/// Moves elementwise operations on the transposed and reshaped matmul result before the transpose,
/// up to the first operation with an 8-bit result, as long as each value has one user. These
/// operations then directly follow the matmul and can be fused with it.
void sinkTransposeToPlanes(mlir::Value unfolded);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_UNFOLD_H

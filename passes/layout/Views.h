//===- Views.h - transpositions that become views by a layout -------------===//
//
// Permuting [N, H, W, C] to [N, C, H, W] moves no data if the result has the channels-last layout.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_VIEWS_H
#define DLC_PASSES_LAYOUT_VIEWS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Moves elementwise operations on a convolution's result before the reshape that merges its
/// dimensions: gelu(reshape(x)) = reshape(gelu(x)).
void mergeImagesLast(mlir::Block &block, int64_t rank);

/// Moves transpositions before the reshape that merges dimensions, if one of the layouts then makes
/// them views: transpose(reshape(x)) = reshape(transpose(x)).
void transposeImagesFirst(mlir::Block &block, llvm::ArrayRef<std::string> tags, int64_t rank);

/// A matmul whose first operand was transposed by its flag, and is now transposed by a separate
/// operation.
struct TransposedMatmul {
  MatmulOp product;
  TransposeOp transpose;
  mlir::Value before; ///< the original operand
};

/// Replaces the transposed first operand of matmuls by a transposition of the image, if one of the
/// layouts makes that a view: matmul(reshape(x)^T, w) = matmul(reshape(transpose(x)), w).
llvm::SmallVector<TransposedMatmul>
transposeMatmuls(mlir::Block &block, llvm::ArrayRef<std::string> tags, int64_t rank);
/// Restores the original matmul.
void undoTransposes(TransposedMatmul &transposed);

/// Replaces a transposition by a view. The layout of `result` must make it one.
void makeView(TransposeOp op, mlir::Type result);

/// Moves elementwise operations from views to the row-major tensors that these are views of, so
/// that they are adjacent to matmuls and row-wise operations: add(view(x), y) = view(add(x,
/// view(y))).
void sinkViews(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_VIEWS_H

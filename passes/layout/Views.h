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
/// dimensions: gelu(reshape(x)) = reshape(gelu(x)). The reshape is then last.
void sinkImageReshapes(mlir::Block &block, int64_t rank);

/// Moves transpositions before the reshape that merges an image's dimensions: transpose(reshape(x))
/// = reshape(transpose(x)). Applied only if the transposition of the image moves no data (is a
/// view) in one of the layouts `tags`.
void hoistImageTransposes(mlir::Block &block, llvm::ArrayRef<std::string> tags, int64_t rank);

/// A matmul whose first operand was transposed by its transpose flag, and is now transposed by a
/// separate operation.
struct TransposedMatmul {
  MatmulOp product;
  TransposeOp transpose;
  mlir::Value before; ///< first operand before the rewrite
};

/// Replaces the transpose flag of a matmul's first operand by a transposition of the image from
/// which the operand is reshaped: matmul(reshape(x)^T, w) = matmul(reshape(transpose(x)), w).
/// Applied only if the transposition moves no data (is a view) in one of the layouts `tags`.
/// Returns the rewritten matmuls, which undoTransposes() can restore.
llvm::SmallVector<TransposedMatmul>
transposeMatmuls(mlir::Block &block, llvm::ArrayRef<std::string> tags, int64_t rank);
/// Restores the original matmul with its transpose flag.
void undoTransposes(TransposedMatmul &transposed);

/// Replaces a transposition by a view of the same memory. The layout of the type `result` must make
/// the transposition a view.
void replaceByView(TransposeOp op, mlir::Type result);

/// Moves elementwise operations from views to the row-major tensors that the views refer to, so
/// that the operations are adjacent to matmuls and row-wise operations: add(view(x), y) =
/// view(add(x, view(y))).
void sinkViews(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_VIEWS_H

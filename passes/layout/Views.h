//===- Views.h - transpositions that a layout makes views -----------------===//
//
// Permuting [N, H, W, C] to [N, C, H, W] moves nothing where the result lies with its channels
// last.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_VIEWS_H
#define DLC_PASSES_LAYOUT_VIEWS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Elementwise work on what a convolution makes is done on images, before their dimensions are
/// merged: gelu(reshape(x)) = reshape(gelu(x)).
void mergeImagesLast(mlir::Block &block, int64_t rank);

/// Images are transposed before their dimensions are merged, where one of the layouts then makes
/// that a view: transpose(reshape(x)) = reshape(transpose(x)).
void transposeImagesFirst(mlir::Block &block, llvm::ArrayRef<std::string> tags, int64_t rank);

/// A product that took its first operand transposed, and takes what was transposed before it.
struct TurnedProduct {
  MatmulOp product;
  TransposeOp transpose;
  mlir::Value before; ///< what it took
};

/// Products that take merged images transposed get a transposition of the image, where one of the
/// layouts makes that a view: matmul(reshape(x)^T, w) = matmul(reshape(transpose(x)), w).
llvm::SmallVector<TurnedProduct> turnProducts(mlir::Block &block, llvm::ArrayRef<std::string> tags,
                                              int64_t rank);
/// Back to what it was.
void turnBack(TurnedProduct &turned);

/// The view in the place of a transposition between layouts that make it one.
void makeView(TransposeOp op, mlir::Type result);

/// Elementwise work on views is done on what they are views of, where rows and products are:
/// add(view(x), y) = view(add(x, view(y))).
void sinkViews(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_VIEWS_H

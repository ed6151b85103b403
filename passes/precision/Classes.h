//===- Classes.h - numeric class of an operation --------------------------===//
#ifndef DLC_PASSES_PRECISION_CLASSES_H
#define DLC_PASSES_PRECISION_CLASSES_H

#include "passes/TensorBuilder.h"

namespace dlc::precision {

/// Returns the numeric class of an operation, which determines whether its operands and results may
/// have 16 bits. Operations of other dialects have the class Full (f32 throughout).
NumericClass classOf(mlir::Operation *op);

/// Returns the operands of an operation of numeric class Layer (such as a normalization) that are
/// narrow (16-bit) if its first result is narrow. All other operands stay in f32.
llvm::SmallVector<mlir::OpOperand *> dataOperands(mlir::Operation *op);

/// Returns whether an operand or result of a matmul, convolution or attention (numeric class
/// Product) stays in f32, because it is not part of a matmul. Example: `lse`, the log-sum-exp of
/// attention.
bool mustStayInF32(const mlir::OpOperand &operand);
bool mustStayInF32(mlir::OpResult result);

/// Returns whether the operation only rearranges elements, so that it may read a narrow (16-bit)
/// copy of a parameter.
bool isViewLike(mlir::Operation *op);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_CLASSES_H

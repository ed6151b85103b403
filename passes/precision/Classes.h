//===- Classes.h - numeric class of an operation --------------------------===//
#ifndef DLC_PASSES_PRECISION_CLASSES_H
#define DLC_PASSES_PRECISION_CLASSES_H

#include "passes/TensorBuilder.h"

namespace dlc::precision {

/// The numeric class of an operation. Full for operations of other dialects.
NumericClass classOf(mlir::Operation *op);

/// The operands of a Layer that are narrow if its first result is narrow. All other operands stay
/// in f32.
llvm::SmallVector<mlir::OpOperand *> dataOperands(mlir::Operation *op);

/// Whether an operand or result of a Product stays in f32, because it is not part of a matrix
/// product (`lse` of attention).
bool staysInF32(const mlir::OpOperand &operand);
bool staysInF32(mlir::OpResult result);

/// Whether the operation only rearranges elements, so that it may read a narrow copy of a
/// parameter.
bool isViewLike(mlir::Operation *op);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_CLASSES_H

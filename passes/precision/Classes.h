//===- Classes.h - what an operation needs of its numbers -----------------===//
#ifndef DLC_PASSES_PRECISION_CLASSES_H
#define DLC_PASSES_PRECISION_CLASSES_H

#include "passes/TensorBuilder.h"

namespace dlc::precision {

/// Full for what is no operation of ours.
NumericClass classOf(mlir::Operation *op);

/// The operands of a Layer that are narrow when its result 0 is; the others stay in f32.
llvm::SmallVector<mlir::OpOperand *> dataOperands(mlir::Operation *op);

/// Of a Product, what is no operand or result of products: it stays in f32.
bool staysWide(const mlir::OpOperand &operand);
bool staysWide(mlir::OpResult result);

/// Whether the operation only says where elements lie, so that it may work on a narrow copy of a
/// parameter.
bool isViewLike(mlir::Operation *op);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_CLASSES_H

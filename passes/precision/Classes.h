//===- Classes.h - what an operation needs of its numbers -----------------===//
#ifndef DLC_PASSES_PRECISION_CLASSES_H
#define DLC_PASSES_PRECISION_CLASSES_H

#include "passes/TensorBuilder.h"

namespace dlc::precision {

enum class NumericClass {
  Product, ///< 16-bit operands, sums in f32: where narrow numbers save time
  Layer,   ///< sums or statistics in f32 inside, but its data may be narrow
  Exact,   ///< gives elements as it finds them: narrow ones stay what they are
  Smooth,  ///< rounds once per element: computed in f32, its result may be kept narrow
  Full,    ///< f32 throughout
};

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

//===- Contraction.h - zero points and biases of contractions -------------===//
#ifndef DLC_IR_DLC_CONTRACTION_H
#define DLC_IR_DLC_CONTRACTION_H

#include "mlir/IR/Operation.h"

namespace dlc {

/// Checks for a matmul or convolution of 4- or 8-bit integers, which are summed in i32.
bool isIntegerContraction(mlir::Operation *op);

/// Returns the zero point of operand 0 or 1 of a matmul or convolution. Null means 0.
mlir::Value zeroPointOf(mlir::Operation *contraction, unsigned operand);

/// Whether each zero point of a matmul or convolution has one element.
bool hasSingleZeroPoints(mlir::Operation *contraction);

/// Sets the zero points of both operands of a matmul or convolution. Null means 0.
void setZeroPoints(mlir::Operation *contraction, mlir::Value left, mlir::Value right);

/// Returns the bias of a convolution or transposed convolution; null if there is none.
mlir::Value biasOf(mlir::Operation *contraction);

} // namespace dlc

#endif // DLC_IR_DLC_CONTRACTION_H

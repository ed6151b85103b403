//===- Contraction.h - zero points and biases of contractions -------------===//
#ifndef DLC_IR_DLC_CONTRACTION_H
#define DLC_IR_DLC_CONTRACTION_H

#include "mlir/IR/Operation.h"

namespace dlc {

/// Returns whether the operation is a matmul or convolution of 4- or 8-bit integers, which
/// accumulates in i32.
bool isIntegerContraction(mlir::Operation *op);

/// Returns the zero point of operand 0 or 1 of a matmul or convolution, or null if the zero point
/// is 0.
mlir::Value zeroPointOf(mlir::Operation *contraction, unsigned operand);

/// Returns whether each zero point of a matmul or convolution is per tensor, i.e. has one element.
bool hasSingleZeroPoints(mlir::Operation *contraction);

/// Sets the zero points of both operands of a matmul or convolution. A null value means a zero
/// point of 0.
void setZeroPoints(mlir::Operation *contraction, mlir::Value left, mlir::Value right);

/// Returns the bias of a convolution or transposed convolution; null if there is none.
mlir::Value biasOf(mlir::Operation *contraction);

} // namespace dlc

#endif // DLC_IR_DLC_CONTRACTION_H

//===- Rounding.h - where kernels round values to 16 bits -----------------===//
//
// Kernels compute elements of f16 and bf16 in f32. A value of such a type is rounded to it as soon
// as it is computed, with two exceptions that no reader can observe: the value has the attribute
// `dlc.excess_precision`, which the pass dlc-excess-precision sets, or the store that follows
// rounds it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_ROUNDING_H
#define DLC_PASSES_ROUNDING_H

#include "ir/dlc/Dialect.h"

namespace dlc {

/// Returns whether the element type is f16 or bf16.
bool isSixteenBitFloat(mlir::Type type);

/// Returns whether each result element of the operation is an operand element, up to its sign.
/// Rounding to 16 bits then gives the same value before and after the operation.
bool commutesWithRounding(mlir::Operation *op);

/// Returns whether a kernel passes this f16 or bf16 value on to later operations in f32: the
/// operation that defines the value has kExcessPrecisionAttr, and the kernel does not store the
/// value.
bool hasExcessPrecision(mlir::Value value);

/// Returns whether this value is rounded to f16 or bf16 in the IR, and its readers may observe the
/// rounding.
bool isRoundedTo16Bits(mlir::Value value);

/// Returns whether a kernel that computes the value in f32 must round it before later operations
/// read it. False if the operands are already rounded and the operation is exact, or if only stores
/// read the value.
bool needsRounding(mlir::Value value);

} // namespace dlc

#endif // DLC_PASSES_ROUNDING_H

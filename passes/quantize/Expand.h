//===- Expand.h - quantized operations as elementwise operations ----------===//
#ifndef DLC_PASSES_QUANTIZE_EXPAND_H
#define DLC_PASSES_QUANTIZE_EXPAND_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Casts a value of 4-bit integers to 8 bits, and evaluates the cast if the value is a constant.
/// Returns values of other types unchanged.
mlir::Value unpacked(mlir::OpBuilder &builder, mlir::Value x);

/// Replaces the 4-bit operands and zero points of an integer contraction by 8-bit ones.
void unpackOperands(mlir::Operation *contraction);

/// Returns x in i32 minus the zero point (null means 0). 4-bit integers are first cast to 8 bits.
mlir::Value subtractZeroPoint(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                              mlir::Value zeroPoint);

/// Returns the rounded and clamped values of a quantization before the cast to integers, in f32 (in
/// f64 if x is f64).
mlir::Value roundedValues(QuantizeOp op);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_EXPAND_H

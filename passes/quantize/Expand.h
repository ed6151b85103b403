//===- Expand.h - quantized operations as elementwise operations ----------===//
#ifndef DLC_PASSES_QUANTIZE_EXPAND_H
#define DLC_PASSES_QUANTIZE_EXPAND_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Casts 4-bit integers to 8 bits; evaluates the cast of a constant. Returns other values
/// unchanged.
mlir::Value unpacked(mlir::OpBuilder &builder, mlir::Value x);

/// Replaces the operands and zero points of 4 bits of an integer contraction by ones of 8 bits.
void unpackOperands(mlir::Operation *contraction);

/// Returns x in i32 minus the zero point (null for 0). 4-bit integers are unpacked.
mlir::Value centered(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                     mlir::Value zeroPoint);

/// Returns the rounded and clamped values of a quantization before their cast to integers, in f32
/// (f64 for x in f64).
mlir::Value roundedValues(QuantizeOp op);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_EXPAND_H

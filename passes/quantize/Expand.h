//===- Expand.h - quantized operations as elementwise operations ----------===//
#ifndef DLC_PASSES_QUANTIZE_EXPAND_H
#define DLC_PASSES_QUANTIZE_EXPAND_H

#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Replaces a contraction of 4- or 8-bit integers by one of operands in i32 minus their zero
/// points, and returns that. Returns any other operation unchanged.
mlir::Operation *widenContraction(mlir::Operation *op);

/// Returns x in i32 minus the zero point (null for 0). 4-bit integers are unpacked.
mlir::Value centered(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                     mlir::Value zeroPoint);

/// Returns the rounded and clamped values of a quantization before their cast to integers, in f32
/// (f64 for x in f64).
mlir::Value roundedValues(QuantizeOp op);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_EXPAND_H

//===- Requantize.h - quantizations of dequantized values -----------------===//
#ifndef DLC_PASSES_QUANTIZE_REQUANTIZE_H
#define DLC_PASSES_QUANTIZE_REQUANTIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc::quantize {

/// Simplifies pairs of quantize and dequantize. Removes a quantize of dequantized values that
/// returns the original quantized values. Replaces a dequantize of values that were quantized to 16
/// bits by f32 arithmetic without integers, because no kernel accumulates products of 16-bit
/// integers.
void simplifyRequantization(mlir::ModuleOp module);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_REQUANTIZE_H

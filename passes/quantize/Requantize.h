//===- Requantize.h - quantizations of dequantized values -----------------===//
#ifndef DLC_PASSES_QUANTIZE_REQUANTIZE_H
#define DLC_PASSES_QUANTIZE_REQUANTIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc::quantize {

/// Removes quantizations that return the quantized values from which their operand was dequantized.
/// Keeps 16-bit quantized values in f32, because no kernel accumulates products of 16-bit integers.
void simplifyRequantization(mlir::ModuleOp module);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_REQUANTIZE_H

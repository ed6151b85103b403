//===- Requantize.h - quantizations of dequantized values -----------------===//
#ifndef DLC_PASSES_QUANTIZE_REQUANTIZE_H
#define DLC_PASSES_QUANTIZE_REQUANTIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc::quantize {

/// Removes quantizations that give back the quantized values that they are made of, and keeps
/// quantized values of 16 bits in f32, since no kernel sums integers of 16 bits.
void requantize(mlir::ModuleOp module);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_REQUANTIZE_H

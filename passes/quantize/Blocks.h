//===- Blocks.h - matmuls by constant quantized weights --------------------===//
#ifndef DLC_PASSES_QUANTIZE_BLOCKS_H
#define DLC_PASSES_QUANTIZE_BLOCKS_H

#include "passes/Costs.h"
#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Checks whether a dequantization has a scale or a zero point for each of several blocks.
bool hasBlockParameters(DequantizeOp op);

/// Rewrites a matmul by constant weights that are dequantized in blocks along the reduction
/// dimension. If `costs` (may be null) has a kernel that reads the quantized weights, marks the
/// matmul for it; otherwise, for few rows, rewrites it as one matmul for each block. Returns false
/// if nothing was rewritten.
bool keepBlockQuantizedWeights(MatmulOp product, Costs *costs);

/// Rewrites a matmul by quantized weights without blocks so that its kernel reads the quantized
/// weights. Returns false if there is no such kernel.
bool keepChannelQuantizedWeights(MatmulOp product, Costs &costs);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_BLOCKS_H

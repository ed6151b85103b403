//===- Blocks.h - matmuls by constant quantized weights --------------------===//
#ifndef DLC_PASSES_QUANTIZE_BLOCKS_H
#define DLC_PASSES_QUANTIZE_BLOCKS_H

#include "passes/Costs.h"
#include "passes/TensorBuilder.h"

namespace dlc::quantize {

/// Rewrites a matmul by constant weights that are dequantized in blocks along the contracted
/// dimension: for a kernel that reads the quantized weights if `costs` (may be null) has one, else,
/// for few rows, as one matmul for each block. Returns false if nothing was rewritten.
bool keepBlocks(MatmulOp product, Costs *costs);

/// Rewrites a matmul by weights without blocks for a kernel that reads the quantized weights.
/// Returns false without one.
bool keepChannels(MatmulOp product, Costs &costs);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_BLOCKS_H

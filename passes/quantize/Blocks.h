//===- Blocks.h - matmuls by weights that are quantized in blocks ----------===//
#ifndef DLC_PASSES_QUANTIZE_BLOCKS_H
#define DLC_PASSES_QUANTIZE_BLOCKS_H

#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

namespace dlc::quantize {

/// Rewrites a matmul by constant weights that are dequantized in blocks along the contracted
/// dimension: for a kernel that reads the quantized weights if `costs` (may be null) has one, else,
/// for few rows, as one matmul for each block. Returns false if nothing was rewritten.
bool keepBlocks(MatmulOp product, Costs *costs);

/// Quantized weights of 4 or 8 bits with one scale, and optionally one zero point, for each output
/// column or for all of them.
struct Channels {
  ref::Tensor numbers; ///< [k, n], or [n, k] if isTurned
  ref::Tensor scales;
  std::optional<ref::Tensor> zeros;
  bool isTurned = false;
};

/// Rewrites a matmul by such weights for a kernel that reads them. Returns null without one.
mlir::Value keepChannels(MatmulOp product, const Channels &weights, Costs &costs);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_BLOCKS_H

//===- Blocks.h - products by weights of few bits in blocks ----------------===//
#ifndef DLC_PASSES_QUANTIZE_BLOCKS_H
#define DLC_PASSES_QUANTIZE_BLOCKS_H

#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

namespace dlc::quantize {

/// A product by constant weights that are dequantized in blocks along the contracted dimension
/// keeps their few bits where `costs` (null: no costs) know a kernel that reads those. Without one,
/// few rows are multiplied by each block's values first, which stay 8 bits. Returns false if the
/// product stays as it is.
bool keepBlocks(MatmulOp product, Costs *costs);

/// Weights of 4 or 8 bits, signed or not, with scales and perhaps zero points: one for each column
/// of the product, or one for all.
struct Channels {
  ref::Tensor numbers; ///< [k, n], or [n, k] where it is turned
  ref::Tensor scales;
  std::optional<ref::Tensor> zeros;
  bool isTurned = false;
};

/// The same of such weights, which the product reads. Null where nobody reads them so.
mlir::Value keepChannels(MatmulOp product, const Channels &weights, Costs &costs);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_BLOCKS_H

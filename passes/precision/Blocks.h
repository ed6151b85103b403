//===- Blocks.h - products by weights of few bits in blocks ----------------===//
#ifndef DLC_PASSES_PRECISION_BLOCKS_H
#define DLC_PASSES_PRECISION_BLOCKS_H

#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

namespace dlc::precision {

/// A product by constant weights in blocks with scales (passes/ScaledBlocks.h) keeps their few bits
/// where `costs` know a kernel that reads those; null: nobody does. Without one, few rows are
/// multiplied by each block's numbers first, which stay 8 bits. False: it stays as it is.
bool keepBlocks(MatmulOp product, Costs *costs);

/// Weights of 8 bits, signed or not, with scales and perhaps zero points: one for each column of
/// the product, or one for all.
struct Channels {
  ref::Tensor numbers; ///< [k, n], or [n, k] where it is turned
  ref::Tensor scales;
  std::optional<ref::Tensor> zeros;
  bool isTurned = false;
};

/// The same of such weights, which the product reads. Null where nobody reads them so.
mlir::Value keepChannels(MatmulOp product, const Channels &weights, Costs &costs);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_BLOCKS_H

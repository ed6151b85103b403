//===- Blocks.h - products by weights of few bits in blocks ----------------===//
#ifndef DLC_PASSES_PRECISION_BLOCKS_H
#define DLC_PASSES_PRECISION_BLOCKS_H

#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/TensorBuilder.h"

namespace dlc::precision {

/// A product by constant weights in blocks with scales (passes/ScaledBlocks.h) keeps their few bits
/// where `costs` know a kernel that reads those; null: nobody does. Without one, few rows are
/// multiplied by each block's numbers first, which stay 8 bits. False: it stays as it is.
bool keepBlocks(MatmulOp product, Costs *costs);

/// The same of weights i8, [k, n] or [n, k] as the product reads them, with a scale for each column
/// or one for all. Null where nobody reads them so.
mlir::Value keepChannels(MatmulOp product, const ref::Tensor &numbers, const ref::Tensor &scales,
                         Costs &costs);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_BLOCKS_H

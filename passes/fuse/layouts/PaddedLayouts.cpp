//===- PaddedLayouts.cpp - row-major layouts for generated kernels with padded blocks ----===//
#include "ir/dlc/Shape.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "passes/fuse/grouping/FuseSteps.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {
namespace {

bool hasPaddedBlocks(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && hasPartialBlock(staticShape(type), layoutOf(type));
}

RankedTensorType toRowMajorType(RankedTensorType type) {
  return makeTensorType(staticShape(type), type.getElementType(), deviceOf(type));
}

void setRowMajorType(Value value) {
  if (!layoutOf(value.getType()).empty())
    value.setType(toRowMajorType(typeOf(value)));
}

/// Inserts reorders to and from row-major around the fusion, and makes all values inside of it
/// row-major.
void convertToRowMajor(FusionOp fusion) {
  OpBuilder builder(fusion);
  for (OpOperand &operand : fusion->getOpOperands())
    if (!layoutOf(operand.get().getType()).empty())
      operand.set(ReorderOp::create(builder, fusion.getLoc(), toRowMajorType(typeOf(operand.get())),
                                    operand.get()));
  builder.setInsertionPointAfter(fusion);
  for (Value result : fusion->getResults()) {
    RankedTensorType type = typeOf(result);
    if (layoutOf(type).empty())
      continue;
    result.setType(toRowMajorType(type));
    auto back = ReorderOp::create(builder, fusion.getLoc(), type, result);
    result.replaceAllUsesExcept(back.getResult(), back);
  }
  Block &body = fusion.getBody().front();
  for (BlockArgument argument : body.getArguments())
    setRowMajorType(argument);
  for (Operation &op : body)
    for (Value result : op.getResults())
      setRowMajorType(result);
}

} // namespace

void reorderPaddedFusions(Block &block) {
  for (auto fusion : llvm::make_early_inc_range(block.getOps<FusionOp>())) {
    bool padded = llvm::any_of(fusion->getOperands(), hasPaddedBlocks) ||
                  llvm::any_of(fusion->getResults(), hasPaddedBlocks);
    // Only generated kernels need row-major tensors, because library kernels maintain the padding
    // of blocked layouts themselves.
    if (padded && !matchEpilogue(fusion) &&
        !fusion.getBody().front().front().hasTrait<StandaloneOp>())
      convertToRowMajor(fusion);
  }
}

} // namespace dlc

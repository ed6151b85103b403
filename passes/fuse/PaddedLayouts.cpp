//===- PaddedLayouts.cpp - row-major layouts for generated kernels with padded blocks ----===//
#include "passes/fuse/Classify.h"
#include "passes/fuse/Epilogue.h"
#include "passes/fuse/FuseSteps.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {
namespace {

bool isPadded(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && padsBlocks(type.getShape(), layoutOf(type));
}

RankedTensorType plain(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), deviceOf(type));
}

void makePlain(Value value) {
  if (!layoutOf(value.getType()).empty())
    value.setType(plain(typeOf(value)));
}

/// Inserts reorders to and from row-major around the fusion, and makes all values inside of it
/// row-major.
void unblock(FusionOp fusion) {
  OpBuilder builder(fusion);
  for (OpOperand &operand : fusion->getOpOperands())
    if (!layoutOf(operand.get().getType()).empty())
      operand.set(
          ReorderOp::create(builder, fusion.getLoc(), plain(typeOf(operand.get())), operand.get()));
  builder.setInsertionPointAfter(fusion);
  for (Value result : fusion->getResults()) {
    RankedTensorType type = typeOf(result);
    if (layoutOf(type).empty())
      continue;
    result.setType(plain(type));
    auto back = ReorderOp::create(builder, fusion.getLoc(), type, result);
    result.replaceAllUsesExcept(back.getResult(), back);
  }
  Block &body = fusion.getBody().front();
  for (BlockArgument argument : body.getArguments())
    makePlain(argument);
  for (Operation &op : body)
    for (Value result : op.getResults())
      makePlain(result);
}

} // namespace

void reorderPaddedFusions(Block &block) {
  for (auto fusion : llvm::make_early_inc_range(block.getOps<FusionOp>())) {
    bool padded = llvm::any_of(fusion->getOperands(), isPadded) ||
                  llvm::any_of(fusion->getResults(), isPadded);
    // Only generated kernels need row-major tensors, because library kernels maintain the padding
    // of blocked layouts themselves.
    if (padded && !matchEpilogue(fusion) &&
        !fusion.getBody().front().front().hasTrait<StandaloneOp>())
      unblock(fusion);
  }
}

} // namespace dlc

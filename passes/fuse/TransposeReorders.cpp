//===- TransposeReorders.cpp - reorders without blocks as transpositions --===//
#include "passes/fuse/TransposeReorders.h"
#include "passes/Dimensions.h"
#include "passes/fuse/FuseSteps.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {

/// The type of what lies in memory in this order.
static RankedTensorType typeInMemory(RankedTensorType type, ArrayRef<int64_t> order) {
  auto shape = llvm::map_to_vector(order, [&](int64_t d) { return type.getDimSize(d); });
  return RankedTensorType::get(shape, type.getElementType(), deviceOf(type));
}

Value transposeReorder(OpBuilder &builder, ReorderOp op) {
  RankedTensorType from = typeOf(op.getX()), to = typeOf(op.getY());
  auto fromOrder = memoryOrder(from), toOrder = memoryOrder(to);
  if (!fromOrder || !toOrder || *fromOrder == *toOrder || !from.hasStaticShape() ||
      from.getNumElements() == 0)
    return {};
  Location loc = op.getLoc();
  Value x = op.getX();
  if (!layoutOf(from).empty())
    x = TransposedViewOp::create(builder, loc, typeInMemory(from, *fromOrder), x, *fromOrder);
  SmallVector<int64_t> inFrom = inverseOf(*fromOrder);
  auto permutation = llvm::map_to_vector(*toOrder, [&](int64_t d) { return inFrom[d]; });
  RankedTensorType moved = typeInMemory(to, *toOrder);
  auto fusion = FusionOp::create(builder, loc, TypeRange(moved), ValueRange(x));
  Block &body = fusion.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value y =
      TransposeOp::create(inside, loc, moved, body.addArgument(x.getType(), loc), permutation);
  YieldOp::create(inside, loc, y);
  y = fusion.getResult(0);
  if (!layoutOf(to).empty())
    y = TransposedViewOp::create(builder, loc, to, y, inverseOf(*toOrder));
  return y;
}

void transposeReorders(Block &block) {
  for (ReorderOp op : llvm::make_early_inc_range(block.getOps<ReorderOp>())) {
    // What constants become is made while compiling.
    if (op.getX().getDefiningOp<ConstantOp>())
      continue;
    OpBuilder builder(op);
    if (Value moved = transposeReorder(builder, op)) {
      op.getY().replaceAllUsesWith(moved);
      op.erase();
    }
  }
}

} // namespace dlc

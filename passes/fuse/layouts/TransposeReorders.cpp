//===- TransposeReorders.cpp - reorders between layouts without blocks as transpositions ----===//
#include "passes/fuse/layouts/TransposeReorders.h"
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/Dimensions.h"
#include "passes/fuse/grouping/FuseSteps.h"
#include "passes/layout/Alternatives.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {

/// Returns the row-major type of the data in memory: `type` with its dimensions permuted to
/// `order`.
static RankedTensorType typeInMemory(RankedTensorType type, ArrayRef<int64_t> order) {
  auto shape = llvm::map_to_vector(order, [&](int64_t d) { return staticDim(type, d); });
  return makeTensorType(shape, type.getElementType(), deviceOf(type));
}

Value reorderToTranspose(OpBuilder &builder, ReorderOp op, bool alone) {
  RankedTensorType from = typeOf(op.getX()), to = typeOf(op.getY());
  auto fromOrder = memoryOrder(from), toOrder = memoryOrder(to);
  if (!fromOrder || !toOrder || *fromOrder == *toOrder || !from.hasStaticShape() ||
      staticElements(from) == 0)
    return {};
  Location loc = op.getLoc();
  Value x = op.getX();
  if (isSameInMemory(from, to))
    return TransposedViewOp::create(builder, loc, to, x,
                                    llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())));
  if (!layoutOf(from).empty())
    x = TransposedViewOp::create(builder, loc, typeInMemory(from, *fromOrder), x, *fromOrder);
  SmallVector<int64_t> inFrom = invertPermutation(*fromOrder);
  auto permutation = llvm::map_to_vector(*toOrder, [&](int64_t d) { return inFrom[d]; });
  RankedTensorType moved = typeInMemory(to, *toOrder);
  Value y;
  if (alone) {
    auto fusion = FusionOp::create(builder, loc, TypeRange(moved), ValueRange(x));
    Block &body = fusion.getBody().emplaceBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    YieldOp::create(
        inside, loc,
        TransposeOp::create(inside, loc, moved, body.addArgument(x.getType(), loc), permutation)
            .getResult());
    y = fusion.getResult(0);
  } else {
    AlternativeBuilder b(builder, loc);
    y = b.make<TransposeOp>(x, permutation);
  }
  if (!layoutOf(to).empty())
    y = TransposedViewOp::create(builder, loc, to, y, invertPermutation(*toOrder));
  return y;
}

static void convertReordersToTransposes(Block &block, bool alone,
                                        function_ref<bool(ReorderOp)> which) {
  for (ReorderOp op : llvm::make_early_inc_range(block.getOps<ReorderOp>()))
    if (which(op)) {
      OpBuilder builder(op);
      if (Value moved = reorderToTranspose(builder, op, alone)) {
        op.getY().replaceAllUsesWith(moved);
        op.erase();
      }
    }
}

void convertReordersToTransposes(Block &block) {
  // Reorders of constants are not rewritten, because they are evaluated at compile time.
  convertReordersToTransposes(block, /*alone=*/true,
                              [](ReorderOp op) { return !op.getX().getDefiningOp<ConstantOp>(); });
}

void convertGpuReordersToTransposes(Block &block) {
  convertReordersToTransposes(block, /*alone=*/false, [](ReorderOp op) {
    return can(deviceOf(op.getY().getType()), DLC_DEVICE_GPU_CODE);
  });
}

} // namespace dlc

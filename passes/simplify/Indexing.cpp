//===- Indexing.cpp - gathers at constant places, needless broadcasts -----===//
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace dlc {
namespace {

/// first + i * step for all i; the indices counted from the front and all inside.
struct Progression {
  int64_t first, step, count;
};

std::optional<Progression> matchProgression(Value indices, int64_t size) {
  RankedTensorType type = typeOf(indices);
  if (!type.hasStaticShape() || type.getNumElements() == 0 || type.getNumElements() > 65536)
    return std::nullopt;
  std::optional<ref::Tensor> tensor = constantTensor(indices);
  if (!tensor)
    return std::nullopt;
  auto at = [&](int64_t i) {
    int64_t index = tensor->getInt(i);
    return index < 0 ? index + size : index;
  };
  Progression found{at(0), tensor->size() > 1 ? at(1) - at(0) : 1, tensor->size()};
  for (int64_t i = 0; i < found.count; ++i)
    if (at(i) != found.first + i * found.step || at(i) < 0 || at(i) >= size)
      return std::nullopt;
  if (found.step == 0)
    return std::nullopt;
  return found;
}

// gather(x, [a, a + s, ..]) = reshape(slice(x, from a, every s))
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getX()).hasStaticShape() || !typeOf(op.getY()).hasStaticShape())
      return failure();
    SmallVector<int64_t> size(shapeOf(op.getX()));
    auto progression = matchProgression(op.getIndices(), size[op.getAxis()]);
    if (!progression)
      return failure();
    SmallVector<int64_t> start(size.size(), 0), stride(size.size(), 1);
    start[op.getAxis()] = progression->first;
    stride[op.getAxis()] = progression->step;
    size[op.getAxis()] = progression->count;
    TensorBuilder b(rewriter, op.getLoc());
    Value part = b.make<SliceOp>(op.getX(), start, size, stride);
    rewriter.replaceOp(op, b.reshape(part, shapeOf(op.getY())));
    return success();
  }
};

// op(broadcast(x), y) = op(x, y) where y stretches it anyway
struct DropBroadcast : OpTraitRewritePattern<Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2 || op->getNumResults() != 1)
      return failure();
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      if (!broadcast)
        continue;
      bool stretched = llvm::any_of(op->getOpOperands(), [&](OpOperand &other) {
        return other.getOperandNumber() != operand.getOperandNumber() &&
               shapeOf(other.get()) == shape;
      });
      if (!stretched)
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getX()); });
      return success();
    }
    return failure();
  }
};

// op(broadcast(x)) = broadcast(op(x)) for one operand: less to compute
struct BroadcastLast : OpTraitRewritePattern<Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return failure();
    auto broadcast = op->getOperand(0).getDefiningOp<BroadcastOp>();
    if (!broadcast || !broadcast.getY().hasOneUse())
      return failure();
    RankedTensorType type = typeOf(op->getResult(0));
    auto small =
        RankedTensorType::get(shapeOf(broadcast.getX()), type.getElementType(), deviceOf(type));
    Operation *inner = rewriter.clone(*op);
    inner->setOperand(0, broadcast.getX());
    inner->getResult(0).setType(small);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, inner->getResult(0));
    return success();
  }
};

} // namespace

void addIndexing(RewritePatternSet &patterns) {
  patterns.add<GatherToSlice, DropBroadcast, BroadcastLast>(patterns.getContext());
}

} // namespace dlc

//===- Indexing.cpp - gathers and scatters at known indices, broadcasts ---===//
#include "ir/dlc/Shape.h"
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace dlc {
namespace {

/// Arithmetic progression of indices: first + i * step for all i < count. Negative indices are
/// already converted, and all are in range.
struct Progression {
  int64_t first, step, count;
};

std::optional<Progression> matchProgression(Value indices, int64_t size) {
  RankedTensorType type = typeOf(indices);
  if (!type.hasStaticShape() || staticElements(type) == 0 || staticElements(type) > 65536)
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

// gather(x, [a, a + s, ..]) -> reshape(slice(x, start a, stride s))
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

// op(broadcast(x), y) -> op(x, y) if y has the shape of the result
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

// op(broadcast(x)) -> broadcast(op(x)) for unary operations: fewer elements are computed
struct SinkBroadcast : OpTraitRewritePattern<Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return failure();
    auto broadcast = op->getOperand(0).getDefiningOp<BroadcastOp>();
    if (!broadcast || !broadcast.getY().hasOneUse() || !typeOf(broadcast.getX()).hasStaticShape())
      return failure();
    RankedTensorType type = typeOf(op->getResult(0));
    auto small = makeTensorType(shapeOf(broadcast.getX()), type.getElementType(), deviceOf(type));
    Operation *inner = rewriter.clone(*op);
    inner->setOperand(0, broadcast.getX());
    inner->getResult(0).setType(small);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, inner->getResult(0));
    return success();
  }
};

/// If the indices are constant along the dimensions after `axis`, returns them without these
/// dimensions, otherwise returns null.
Value matchRowIndices(TensorBuilder &b, Value indices, int64_t axis) {
  auto broadcast = indices.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> whole = shapeOf(indices), given = shapeOf(broadcast.getX());
  SmallVector<int64_t> shape(whole.size() - given.size(), 1);
  shape.append(given.begin(), given.end());
  ArrayRef<int64_t> upTo = ArrayRef<int64_t>(shape).take_front(axis + 1);
  if (llvm::any_of(ArrayRef<int64_t>(shape).drop_front(axis + 1), [](int64_t d) { return d != 1; }))
    return {};
  Value rows = b.reshape(broadcast.getX(), upTo);
  return upTo == whole.take_front(axis + 1) ? rows : b.broadcast(rows, whole.take_front(axis + 1));
}

// scatter_elements(x, indices broadcast along rows, u) -> scatter_nd(x, indices of rows, u)
struct ScatterRows : OpRewritePattern<ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterElementsOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getX()), updates = typeOf(op.getUpdates());
    auto axis = int64_t(op.getAxis());
    if (!type.hasStaticShape() || !updates.hasStaticShape() || axis + 1 == type.getRank() ||
        staticShape(type).drop_front(axis + 1) != staticShape(updates).drop_front(axis + 1))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value rows = matchRowIndices(b, op.getIndices(), axis);
    if (!rows)
      return failure();
    // The index tuples of scatter_nd have one component for each dimension up to the axis.
    SmallVector<int64_t> one(shapeOf(rows));
    one.push_back(1);
    rows = b.reshape(rows, one);
    SmallVector<Value> place;
    for (int64_t d = 0; d < axis; ++d)
      place.push_back(IotaOp::create(rewriter, op.getLoc(), rows.getType(), d).getResult());
    place.push_back(rows);
    if (axis > 0)
      rows = b.make<ConcatOp>(place, axis + 1);
    rewriter.replaceOpWithNewOp<ScatterNdOp>(op, op.getX(), rows, op.getUpdates(),
                                             op.getReduction());
    return success();
  }
};

// gather_elements(x, arg_reduce(x)) -> reduce(x). At ties, the gather passes the gradient to the
// element at the index, but the reduction distributes the gradient over all equal elements.
struct GatherOfArgReduce : OpRewritePattern<GatherElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherElementsOp op, PatternRewriter &rewriter) const override {
    auto index = op.getIndices().getDefiningOp<ArgReduceOp>();
    if (!index || index.getX() != op.getX() || index.getAxis() != op.getAxis() ||
        !index.getKeepdims())
      return failure();
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getY().getType(), index.getKind(), op.getX(),
                                          ArrayRef(int64_t(op.getAxis())), /*keepdims=*/true);
    return success();
  }
};

} // namespace

void addIndexing(RewritePatternSet &patterns, Exactness exactness) {
  patterns.add<GatherToSlice, DropBroadcast, SinkBroadcast, ScatterRows>(patterns.getContext());
  if (exactness == Exactness::Values)
    patterns.add<GatherOfArgReduce>(patterns.getContext());
}

} // namespace dlc

//===- DecomposeSearch.cpp - where an extreme stands, in vectors ----------===//
#include "passes/Devices.h"
#include "passes/fuse/DecomposePatterns.h"

using namespace mlir;

namespace dlc {

namespace {

// arg_max(x) = min(i where x[i] is max(x) or NaN): two walks over a row, both in vectors. Places
// are counted in f32, of which there are as many lanes as of the elements.
struct ArgReduce : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t countable = 1 << 24;
    RankedTensorType type = typeOf(op.getX());
    int64_t axis = op.getAxis();
    if (!can(deviceOf(type), DLC_DEVICE_HOST_CODE) || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() > 32 ||
        type.getDimSize(axis) > countable || type.getNumElements() == 0)
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> line(type.getRank(), 1);
    line[axis] = type.getDimSize(axis);
    Value place = b.make<IotaOp>(
        RankedTensorType::get(line, rewriter.getF32Type(), type.getEncoding()), axis);
    Value extreme = b.reduce(op.getKind(), op.getX(), axis);
    Value isIt = b.make<OrOp>(b.make<CompareOp>(Predicate::eq, op.getX(), extreme),
                              b.make<IsNanOp>(op.getX()));
    double none = op.getLast() ? -1 : double(countable);
    Value found = b.reduce(op.getLast() ? ReduceKind::max : ReduceKind::min,
                           b.make<SelectOp>(isIt, place, b.scalar(none, place)), axis);
    rewriter.replaceOp(
        op, b.cast(b.reshape(found, shapeOf(op.getY())), typeOf(op.getY()).getElementType()));
    return success();
  }
};

} // namespace

void addSearchDecompositions(RewritePatternSet &patterns) {
  patterns.add<ArgReduce>(patterns.getContext());
}

} // namespace dlc

//===- DecomposeSearch.cpp - arg_reduce and topk of one element as vector reductions ----===//
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

using namespace mlir;

namespace dlc {

namespace {

/// Maximum dimension size (2^24) for which f32 represents all indices exactly.
constexpr int64_t kCountable = 1 << 24;

/// Returns whether arg_reduce along the dimension is decomposed into vectorized reductions. On a
/// GPU this requires the innermost dimension, which the threads of a row reduce together.
bool canDecomposeArgReduce(Value x, int64_t axis) {
  RankedTensorType type = typeOf(x);
  OnAttr device = deviceOf(type);
  bool isRow = axis + 1 == type.getRank() && can(device, DLC_DEVICE_GPU_CODE);
  return (can(device, DLC_DEVICE_HOST_CODE) || isRow) && type.hasStaticShape() &&
         isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() <= 32 &&
         staticDim(type, axis) <= kCountable && staticElements(type) > 0;
}

// topk(x, 1) -> max(x), arg_max(x)
struct TopOneToArgMax : OpRewritePattern<TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TopKOp op, PatternRewriter &rewriter) const override {
    // Only the largest element is supported, not the smallest: topk orders NaN above all numbers,
    // whereas a minimum propagates NaN.
    int64_t axis = op.getAxis();
    if (op.getK() != 1 || !op.getLargest() || !canDecomposeArgReduce(op.getX(), axis))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value values = b.reduce(ReduceKind::max, op.getX(), axis);
    Value places = b.make<ArgReduceOp>(ReduceKind::max, op.getX(), axis, /*keepdims=*/true,
                                       /*last=*/false);
    rewriter.replaceOp(op, {values, places});
    return success();
  }
};

// Decomposes arg_max(x) = min(i where x[i] is max(x) or NaN) into two vectorized passes over a row.
// Indices are computed in f32, so that a vector of indices has as many lanes as a vector of
// elements.
struct ArgReduce : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getX());
    int64_t axis = op.getAxis();
    if (!canDecomposeArgReduce(op.getX(), axis))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> line(type.getRank(), 1);
    line[axis] = staticDim(type, axis);
    Value place =
        b.make<IotaOp>(makeTensorType(line, rewriter.getF32Type(), type.getEncoding()), axis);
    Value extreme = b.reduce(op.getKind(), op.getX(), axis);
    Value isIt = b.make<OrOp>(b.make<CompareOp>(Predicate::eq, op.getX(), extreme),
                              b.make<IsNanOp>(op.getX()));
    double none = op.getLast() ? -1 : double(kCountable);
    Value found = b.reduce(op.getLast() ? ReduceKind::max : ReduceKind::min,
                           b.make<SelectOp>(isIt, place, b.scalar(none, place)), axis);
    rewriter.replaceOp(
        op, b.cast(b.reshape(found, shapeOf(op.getY())), typeOf(op.getY()).getElementType()));
    return success();
  }
};

} // namespace

void addSearchDecompositions(RewritePatternSet &patterns) {
  patterns.add<ArgReduce, TopOneToArgMax>(patterns.getContext());
}

} // namespace dlc

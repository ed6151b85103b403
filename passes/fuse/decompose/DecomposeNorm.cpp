//===- DecomposeNorm.cpp - normalizations as elementwise operations and reductions ----===//
#include "ir/dlc/Attributes.h"
#include "passes/Compositions.h"
#include "passes/fuse/analysis/Rematerialised.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

using namespace mlir;

namespace dlc {

namespace {

SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

// softmax(x) = e * (1 / sum(e)), e = exp(x - max(x))
struct Softmax : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, buildSoftmax(b, op.getX(), op.getAxis(), /*hidden=*/false));
    return success();
  }
};

// log_softmax(x) = d - log(sum(exp(d))), d = x - max(x)
struct LogSoftmax : OpRewritePattern<LogSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LogSoftmaxOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Value x = b.cast(op.getX(), statisticsType(op.getX()));
    int64_t axis = op.getAxis();
    Value d = b.make<SubOp>(x, b.reduce(ReduceKind::max, x, axis));
    Value sum = b.reduce(ReduceKind::sum, b.make<ExpOp>(d), axis);
    Value y = b.make<SubOp>(d, b.make<LogOp>(sum));
    rewriter.replaceOp(op, b.cast(y, typeOf(op.getX()).getElementType()));
    return success();
  }
};

// layer_norm(x) = c * rsqrt(mean(c * c) + eps) * scale + bias, c = x - mean(x)
struct LayerNorm : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Type type = statisticsType(op.getX());
    Value x = b.cast(op.getX(), type);
    SmallVector<int64_t> axes = axesFrom(op.getAxis(), typeOf(x).getRank());
    Value c = b.make<SubOp>(x, b.reduce(ReduceKind::mean, x, axes));
    Value variance = b.reduce(ReduceKind::mean, b.make<MulOp>(c, c), axes);
    double eps = op.getEps().convertToDouble();
    Value y = b.make<MulOp>(c, b.make<RsqrtOp>(b.make<AddOp>(variance, b.scalar(eps, x))));
    if (op.getScale())
      y = b.make<MulOp>(y, b.cast(op.getScale(), type));
    if (op.getBias())
      y = b.make<AddOp>(y, b.cast(op.getBias(), type));
    rewriter.replaceOp(op, b.cast(y, typeOf(op.getX()).getElementType()));
    return success();
  }
};

// Decomposes group_norm. In the row-major layout, groups are contiguous rows, and the formula of
// layer_norm applies. In other layouts, the mean and variance of a group are computed from those of
// each image's channels. The result is (x - mean) * a + bias with a = scale * rsqrt(variance +
// eps).
struct GroupNorm : OpRewritePattern<GroupNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GroupNormOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Type type = statisticsType(op.getX());
    SmallVector<int64_t> shape(shapeOf(op.getX()));
    int64_t groups = op.getGroups();
    bool isPlain = layoutOf(op.getX().getType()).empty();
    Value x = b.cast(op.getX(), type), mean, variance;
    if (isPlain) {
      int64_t C = shape[1], places = 1;
      for (int64_t d : ArrayRef(shape).drop_front(2))
        places *= d;
      x = b.reshape(x, {shape[0], groups, C / groups, places});
      mean = b.reduce(ReduceKind::mean, x, {2, 3});
      Value c = b.make<SubOp>(x, mean);
      variance = b.reduce(ReduceKind::mean, b.make<MulOp>(c, c), {2, 3});
    } else {
      GroupStatistics found = buildGroupStatistics(b, x, groups);
      mean = found.mean;
      variance = found.variance;
    }
    auto parameter = [&](Value vector) {
      vector = b.cast(vector, type);
      return isPlain ? b.reshape(vector, {groups, shape[1] / groups, 1})
                     : reshapeToChannels(b, vector, int64_t(shape.size()));
    };
    double eps = op.getEps().convertToDouble();
    Value factor = b.make<RsqrtOp>(b.make<AddOp>(variance, b.scalar(eps, x)));
    if (op.getScale())
      factor = b.make<MulOp>(factor, parameter(op.getScale()));
    Value y = b.make<MulOp>(b.make<SubOp>(x, mean), factor);
    if (op.getBias())
      y = b.make<AddOp>(y, parameter(op.getBias()));
    if (isPlain)
      y = b.reshape(y, shape);
    rewriter.replaceOp(op, b.cast(y, typeOf(op.getX()).getElementType()));
    return success();
  }
};

// rms_norm(x) = x * rsqrt(mean(x * x) + eps) * scale
struct RmsNorm : OpRewritePattern<RmsNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RmsNormOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Type type = statisticsType(op.getX());
    Value x = b.cast(op.getX(), type);
    SmallVector<int64_t> axes = axesFrom(op.getAxis(), typeOf(x).getRank());
    Value square = b.reduce(ReduceKind::mean, b.make<MulOp>(x, x), axes);
    double eps = op.getEps().convertToDouble();
    Value y = b.make<MulOp>(x, b.make<RsqrtOp>(b.make<AddOp>(square, b.scalar(eps, x))));
    if (op.getScale())
      y = b.make<MulOp>(y, b.cast(op.getScale(), type));
    rewriter.replaceOp(op, b.cast(y, typeOf(op.getX()).getElementType()));
    return success();
  }
};

// batch_norm(x) = (x - mean) * (scale * rsqrt(variance + eps)) + bias, with the same operations as
// in training
struct BatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Type type = statisticsType(op.getX());
    Operation *before = op->getPrevNode();
    Value x = b.cast(op.getX(), type);
    int64_t rank = typeOf(x).getRank();
    Value variance = b.cast(op.getVariance(), type);
    double eps = op.getEps().convertToDouble();
    Value factor = b.make<MulOp>(b.cast(op.getScale(), type),
                                 b.make<RsqrtOp>(b.make<AddOp>(variance, b.scalar(eps, x))));
    Value centred = b.make<SubOp>(x, reshapeToChannels(b, b.cast(op.getMean(), type), rank));
    Value y = b.make<AddOp>(b.make<MulOp>(centred, reshapeToChannels(b, factor, rank)),
                            reshapeToChannels(b, b.cast(op.getBias(), type), rank));
    y = b.cast(y, typeOf(op.getX()).getElementType());
    // All operations of a rematerialized batch norm get the attribute that marks rematerialized
    // copies.
    if (Attribute again = op->getAttr(kRecomputedAttr))
      for (Operation *part = op->getPrevNode(); part != before; part = part->getPrevNode())
        part->setAttr(kRecomputedAttr, again);
    rewriter.replaceOp(op, y);
    return success();
  }
};

// Local response normalization: lrn(x) = x / (k + alpha / size * sum(x^2 over the window of
// channels))^beta
struct Lrn : OpRewritePattern<LrnOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LrnOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    Value x = b.cast(op.getX(), statisticsType(op.getX()));
    if (op.getSize() > 16)
      return rewriter.notifyMatchFailure(op, "the window would become too many slices");
    Value base = buildLrnDenominator(b, op, x);
    Value y = b.make<DivOp>(x, b.make<PowOp>(base, b.scalar(op.getBeta().convertToDouble(), x)));
    rewriter.replaceOp(op, b.cast(y, typeOf(op.getX()).getElementType()));
    return success();
  }
};

} // namespace

void addNormDecompositions(RewritePatternSet &patterns) {
  patterns.add<Softmax, LogSoftmax, LayerNorm, GroupNorm, RmsNorm, BatchNorm, Lrn>(
      patterns.getContext());
}

} // namespace dlc

//===- DecomposeBatchNorm.cpp - batch norm in training and its gradient ----===//
//
// Forward and backward run as two kernels each: one computes the sums over each channel, the other
// one the elements. Values with one element per channel have the shape [1, C, 1, ..], whose memory
// order is the same in every layout.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/Compositions.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

using namespace mlir;

namespace dlc {
namespace {

/// Builder for an image x [N, C, ..] and values that are computed for each of its channels.
class ChannelBuilder {
public:
  ChannelBuilder(TensorBuilder &b, Value input)
      : b(b), input(input), type(statisticsType(input)), shape(typeOf(input).getRank(), 1) {
    shape[1] = shapeOf(input)[1];
    for (int64_t d = 0; d < typeOf(input).getRank(); ++d)
      if (d != 1) {
        axes.push_back(d);
        count *= double(shapeOf(input)[d]);
      }
  }

  double size() const { return count; }
  Value wide(Value x) { return b.cast(x, type); }
  /// Reshapes a vector [C] to [1, C, 1, ..], in the element type of statistics.
  Value spread(Value vector) { return wide(b.reshape(vector, shape)); }
  /// Reshapes a per-channel statistic to [C], in the element type of `like`.
  Value vector(Value statistic, Value like) {
    return b.reshape(b.cast(statistic, typeOf(like).getElementType()), shape[1]);
  }
  Value sum(Value x) { return b.reduce(ReduceKind::sum, x, axes); }
  Value mean(Value x) { return b.reduce(ReduceKind::mean, x, axes); }

  /// Returns the first element of each channel.
  Value first() {
    SmallVector<int64_t> start(shape.size(), 0), stride(shape.size(), 1);
    return wide(b.make<SliceOp>(input, start, shape, stride));
  }

  /// Reshapes a per-channel statistic so that it can be an operand of an elementwise operation with
  /// x. If x itself is [1, C, 1, ..] in a layout other than row-major, the statistic gets another
  /// shape, because two operands of the same shape must have the same layout.
  Value broadcast(Value statistic) {
    if (layoutOf(input.getType()).empty() || shapeOf(input) != ArrayRef<int64_t>(shape))
      return statistic;
    return b.reshape(statistic, ArrayRef<int64_t>(shape).drop_front());
  }

  Value rsqrt(Value variance, double eps) {
    return b.make<RsqrtOp>(b.make<AddOp>(variance, b.scalar(eps, variance)));
  }
  Value add(Value x, Value y) { return b.make<AddOp>(x, y); }
  Value sub(Value x, Value y) { return b.make<SubOp>(x, y); }
  Value mul(Value x, Value y) { return b.make<MulOp>(x, y); }
  Value mul(Value x, double factor) { return b.make<MulOp>(x, b.scalar(factor, x)); }

private:
  TensorBuilder &b;
  Value input;
  Type type;
  SmallVector<int64_t> shape, axes;
  double count = 1;
};

// Batch normalization in training. With d = x - k, where k is the first element of a channel, which
// avoids cancellation in the sums: mean = k + mean(d), variance = mean(d * d) - mean(d)^2, y = (x -
// mean) * (scale * rsqrt(variance + eps)) + bias
struct BatchNormTrain : OpRewritePattern<BatchNormTrainOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormTrainOp op, PatternRewriter &rewriter) const override {
    Value x = op.getX(), scale = op.getScale();
    if (!typeOf(x).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the number of elements of a channel is unknown");
    if (staticElements(typeOf(x)) == 0) {
      // If there are no channels, all operands and results are empty, so that each result is
      // replaced by an operand of the same shape.
      rewriter.replaceOp(op, {x, scale, scale});
      return success();
    }
    TensorBuilder b(rewriter, op.getLoc());
    ChannelBuilder c(b, x);
    Value first = c.first(), wide = c.wide(x);
    // The difference x - k is computed separately for each of the two sums, so that no kernel
    // stores it: both sums are fused into one kernel.
    Value d = c.sub(wide, c.broadcast(first));
    Value shift = c.mean(c.sub(wide, c.broadcast(first))), square = c.mean(c.mul(d, d));
    Value mean = c.add(first, shift);
    Value variance = c.sub(square, c.mul(shift, shift));
    variance = b.make<MaxOp>(variance, b.scalar(0, variance));
    Value factor = c.mul(c.spread(scale), c.rsqrt(variance, op.getEps().convertToDouble()));
    Value y = c.add(c.mul(c.sub(wide, c.broadcast(mean)), c.broadcast(factor)),
                    c.broadcast(c.spread(op.getBias())));
    rewriter.replaceOp(op, {b.cast(y, typeOf(x).getElementType()), c.vector(mean, scale),
                            c.vector(variance, scale)});
    return success();
  }
};

// Gradient of batch normalization. With r = rsqrt(variance + eps), d = x - mean and M elements per
// channel: dbias = sum(dy), dscale = r * sum(dy * d), dx = scale * r * (dy - d * r * dscale / M -
// dbias / M)
struct BatchNormGrad : OpRewritePattern<BatchNormGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormGradOp op, PatternRewriter &rewriter) const override {
    Value x = op.getX(), scale = op.getScale();
    if (!typeOf(x).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the number of elements of a channel is unknown");
    TensorBuilder b(rewriter, op.getLoc());
    ChannelBuilder c(b, x);
    Value dy = c.wide(op.getDy());
    // The difference d = x - mean is computed separately for each use, so that no kernel stores it
    // for another kernel.
    auto d = [&] { return c.sub(c.wide(x), c.broadcast(c.spread(op.getMean()))); };
    Value r = c.rsqrt(c.spread(op.getVariance()), op.getEps().convertToDouble());
    Value dbias = c.sum(dy), dscale = c.mul(r, c.sum(c.mul(dy, d())));
    const double share = -1 / std::max(1.0, c.size());
    Value slope = c.mul(c.mul(r, dscale), share), offset = c.mul(dbias, share);
    Value factor = c.mul(c.spread(scale), r);
    Value dx = c.add(c.add(dy, c.mul(d(), c.broadcast(slope))), c.broadcast(offset));
    dx = c.mul(dx, c.broadcast(factor));
    rewriter.replaceOp(op, {b.cast(dx, typeOf(x).getElementType()), c.vector(dscale, scale),
                            c.vector(dbias, scale)});
    return success();
  }
};

} // namespace

void addBatchNormDecompositions(RewritePatternSet &patterns) {
  patterns.add<BatchNormTrain, BatchNormGrad>(patterns.getContext());
}

} // namespace dlc

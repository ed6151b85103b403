//===- DecomposeAttention.cpp - attention as matmuls and a softmax --------===//
#include "passes/Compositions.h"
#include "passes/fuse/attention/FusedAttention.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

using namespace mlir;

namespace dlc {
namespace {

LogicalResult keepFusedAttention(Operation *op, PatternRewriter &rewriter) {
  return rewriter.notifyMatchFailure(op, "a single kernel computes the attention");
}

// attention(q, k, v) = softmax(scale * q k^T [masked]) v
struct Attention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (shouldKeepFused(op))
      return keepFusedAttention(op, rewriter);
    TensorBuilder b(rewriter, op.getLoc());
    Value weights = buildAttentionWeights(b, op);
    rewriter.replaceOp(op, b.make<MatmulOp>(weights, op.getV(), false, false));
    return success();
  }
};

// attention_train also returns the log-sum-exp of each row. With m the largest score of the row:
// lse = m + log(sum(exp(score - m)))
struct AttentionTrain : OpRewritePattern<AttentionTrainOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionTrainOp op, PatternRewriter &rewriter) const override {
    if (shouldKeepFused(op))
      return keepFusedAttention(op, rewriter);
    TensorBuilder b(rewriter, op.getLoc());
    // The log-sum-exp result lse is f32, and so are the scores from which it is computed.
    AttentionScoreOperands wide = getScoreOperands(op);
    wide.q = b.cast(wide.q, statisticsType(wide.q));
    wide.k = b.cast(wide.k, statisticsType(wide.k));
    Value weights = buildAttentionWeights(b, getScoreOperands(op)),
          scores = buildAttentionScores(b, wide);
    Value y = b.make<MatmulOp>(weights, op.getV(), false, false);
    int64_t last = typeOf(scores).getRank() - 1;
    Value largest = b.reduce(ReduceKind::max, scores, last);
    // For a row in which all positions are masked, the maximum is replaced by a finite number, so
    // that exp(-inf) = 0 and lse = log(0) = -inf instead of NaN.
    largest = clampNegativeInfinity(b, largest);
    Value e = b.make<ExpOp>(b.make<SubOp>(scores, largest));
    Value sum = b.reduce(ReduceKind::sum, e, last);
    Value lse = b.make<AddOp>(largest, b.make<LogOp>(sum));
    rewriter.replaceOp(op, {y, b.reshape(lse, shapeOf(op.getLse()))});
    return success();
  }
};

// Gradient of attention, from the saved lse: p = exp(scores - lse), dv = p^T dy, ds = scale * p *
// (dy v^T - sum(dy * y)), dq = ds k, dk = ds^T q
struct AttentionGrad : OpRewritePattern<AttentionGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionGradOp op, PatternRewriter &rewriter) const override {
    if (shouldKeepFused(op))
      return keepFusedAttention(op, rewriter);
    TensorBuilder b(rewriter, op.getLoc());
    Value scores = buildAttentionScores(b, getScoreOperands(op)), dy = op.getDy();
    Type wide = typeOf(scores).getElementType(), narrow = typeOf(dy).getElementType();
    SmallVector<int64_t> rows(shapeOf(op.getLse()));
    rows.push_back(1);
    Value lse = clampNegativeInfinity(b, b.reshape(op.getLse(), rows));
    Value p = b.make<ExpOp>(b.make<SubOp>(scores, lse));
    auto product = [&](Value x, Value y, bool turnX, bool turnY) {
      return b.make<MatmulOp>(x, y, turnX, turnY);
    };
    Value dv = product(b.cast(p, narrow), dy, true, false);
    Value dp = b.cast(product(dy, op.getV(), false, true), wide);
    Value terms = b.make<MulOp>(b.cast(dy, wide), b.cast(op.getY(), wide));
    Value share = b.reduce(ReduceKind::sum, terms, typeOf(terms).getRank() - 1);
    Value ds = b.make<MulOp>(p, b.make<SubOp>(dp, share));
    ds = b.make<MulOp>(ds, b.scalar(op.getScale().convertToDouble(), ds));
    ds = b.cast(ds, narrow);
    rewriter.replaceOp(
        op, {product(ds, op.getK(), false, false), product(ds, op.getQ(), true, false), dv});
    return success();
  }
};

} // namespace

void addAttentionDecompositions(RewritePatternSet &patterns) {
  patterns.add<Attention, AttentionTrain, AttentionGrad>(patterns.getContext());
}

} // namespace dlc

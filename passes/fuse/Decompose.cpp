//===- Decompose.cpp - opens the layers that no kernel does whole ---------===//
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/DecomposePatterns.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

using namespace mlir;

namespace dlc {
namespace {

// reduce(x) without keepdims = reshape(reduce(x) keepdims): the row stays a row inside a fusion
struct KeepReducedDims : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKeepdims() || op.getAxes().empty())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value kept = b.reduce(op.getKind(), op.getX(), op.getAxes());
    rewriter.replaceOp(op, b.reshape(kept, shapeOf(op.getY())));
    return success();
  }
};

/// True on and below the diagonal of [T, S]: position s is no later than position t.
Value causalMask(TensorBuilder &b, PatternRewriter &rewriter, Location loc, Value scores) {
  ArrayRef<int64_t> shape = shapeOf(scores).take_back(2);
  auto type = RankedTensorType::get(shape, rewriter.getI64Type(), deviceOf(scores.getType()));
  Value row = IotaOp::create(rewriter, loc, type, /*axis=*/0);
  Value column = IotaOp::create(rewriter, loc, type, /*axis=*/1);
  return b.make<CompareOp>(Predicate::ge, row, column);
}

// attention(q, k, v) = softmax(scale * q k^T [masked]) v
struct Attention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(rewriter, op.getLoc());
    // From here on in f32: each further rounding to 16 bits would show in the exponentials.
    Type element = typeOf(op.getQ()).getElementType();
    Value scores =
        b.cast(b.make<MatmulOp>(op.getQ(), op.getK(), false, true), statisticsType(op.getQ()));
    Value scale = b.scalar(op.getScale().convertToDouble(), scores);
    scores = b.make<MulOp>(scores, scale);
    Value hidden = b.scalar(-std::numeric_limits<double>::infinity(), scores);
    if (op.getCausal())
      scores = b.make<SelectOp>(causalMask(b, rewriter, op.getLoc(), scores), scores, hidden);
    Value mask = op.getMask();
    if (mask && typeOf(mask).getElementType().isInteger(1))
      scores = b.make<SelectOp>(mask, scores, hidden);
    else if (mask)
      scores = b.make<AddOp>(scores, b.cast(mask, statisticsType(mask)));
    // Only a mask can hide a whole row: causally, position 0 is always seen.
    Value weights = softmaxOf(b, scores, typeOf(scores).getRank() - 1, /*hidden=*/bool(mask));
    weights = b.cast(weights, element);
    rewriter.replaceOp(op, b.make<MatmulOp>(weights, op.getV(), false, false));
    return success();
  }
};

struct DecomposePass : PassWrapper<DecomposePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposePass)

  StringRef getArgument() const final { return "dlc-decompose"; }
  StringRef getDescription() const final {
    return "opens softmax, normalisations, attention and recurrent layers into simple operations";
  }

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<KeepReducedDims, Attention>(&getContext());
    addNormDecompositions(patterns);
    addRecurrentDecompositions(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createDecomposePass() { return std::make_unique<DecomposePass>(); }

} // namespace dlc

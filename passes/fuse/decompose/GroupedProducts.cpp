//===- GroupedProducts.cpp - matmuls of attention heads that share keys ----===//
#include "ir/dlc/Contraction.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns x if `value` repeats each matrix of x several times in a row, otherwise null. Matches
/// reshape(broadcast(reshape(x: [.., H, K, N]): [.., H, 1, K, N]): [.., H, times, K, N]).
Value matchRepeatedMatrices(Value value) {
  auto merged = value.getDefiningOp<ReshapeOp>();
  auto broadcast = merged ? merged.getX().getDefiningOp<BroadcastOp>() : BroadcastOp();
  auto split = broadcast ? broadcast.getX().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!split)
    return nullptr;
  ArrayRef<int64_t> from = shapeOf(split.getX()), to = shapeOf(value);
  size_t rank = to.size();
  if (rank < 3 || from.size() != rank || shapeOf(broadcast.getY()).size() != rank + 1)
    return nullptr;
  SmallVector<int64_t> apart(from), each(from), all(from);
  int64_t heads = from[rank - 3];
  if (heads == 0 || to[rank - 3] % heads != 0)
    return nullptr;
  int64_t times = to[rank - 3] / heads;
  apart.insert(apart.end() - 2, 1);
  each.insert(each.end() - 2, times);
  all[rank - 3] *= times;
  bool repeats = times > 1 && shapeOf(broadcast.getX()) == ArrayRef<int64_t>(apart) &&
                 shapeOf(broadcast.getY()) == ArrayRef<int64_t>(each) &&
                 to == ArrayRef<int64_t>(all);
  return repeats ? split.getX() : Value();
}

// matmul(a, repeated(x)) -> matmul(a', x), where a' stacks the rows of all attention heads that
// share a matrix of x
struct MergeGroupedMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (op.getTransposeA() || !typeOf(op.getB()).hasStaticShape() ||
        !typeOf(op.getY()).hasStaticShape() || !hasSingleZeroPoints(op))
      return failure();
    Value shared = matchRepeatedMatrices(op.getB());
    ArrayRef<int64_t> a = shapeOf(op.getA()), b = shapeOf(op.getB());
    if (!shared || a.drop_back(2) != b.drop_back(2))
      return failure();
    SmallVector<int64_t> rows(a);
    int64_t heads = shapeOf(shared)[a.size() - 3], times = a[a.size() - 3] / heads;
    rows[a.size() - 3] = heads;
    rows[a.size() - 2] *= times;
    TensorBuilder builder(rewriter, op.getLoc());
    Value y = builder.make<MatmulOp>(builder.reshape(op.getA(), rows), shared, op.getAZeroPoint(),
                                     op.getBZeroPoint(), false, op.getTransposeB());
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, builder.reshape(y, shapeOf(op.getY())));
    return success();
  }
};

} // namespace

void addGroupedMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<MergeGroupedMatmul>(patterns.getContext());
}

} // namespace dlc

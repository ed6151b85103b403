//===- Norms.cpp - recognizes group normalization as exporters write it ---===//
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace dlc {
namespace {

Value createGroupNorm(TensorBuilder &b, GroupNormOp op, Value x, Value scale, Value bias) {
  return b.make<GroupNormOp>(x, scale, bias, op.getGroups(), op.getEps());
}

/// Returns a value that broadcasts along the channels of [N, C, ..] as a vector [C], or null if the
/// value does not broadcast in this way.
Value toChannelVector(TensorBuilder &b, Value value, Value x) {
  int64_t rank = typeOf(x).getRank(), missing = rank - typeOf(value).getRank();
  if (missing > 1 || typeOf(value).getElementType() != typeOf(x).getElementType())
    return {};
  for (auto [d, size] : llvm::enumerate(shapeOf(value)))
    if (size != (int64_t(d) + missing == 1 ? shapeOf(x)[1] : 1))
      return {};
  return b.reshape(value, {shapeOf(x)[1]});
}

/// Repeats each element of a [G] vector for all channels of its group, which gives [C].
Value repeatGroups(TensorBuilder &b, Value ofGroups, int64_t channels) {
  if (!ofGroups)
    return {};
  int64_t groups = shapeOf(ofGroups)[0];
  Value wide = b.broadcast(b.reshape(ofGroups, {groups, 1}), {groups, channels / groups});
  return b.reshape(wide, {channels});
}

/// Operation that normalizes each row of a tensor [N, G, M] separately.
struct NormalisedRows {
  Value x, scale, bias; // scale and bias are [G] or null
  APFloat eps;

  static std::optional<NormalisedRows> match(Operation *op) {
    if (auto norm = dyn_cast_or_null<GroupNormOp>(op))
      if (shapeOf(norm.getX())[1] == int64_t(norm.getGroups()))
        return NormalisedRows{norm.getX(), norm.getScale(), norm.getBias(), norm.getEps()};
    if (auto norm = dyn_cast_or_null<LayerNormOp>(op))
      if (norm.getAxis() == 2 && !norm.getScale() && !norm.getBias())
        return NormalisedRows{norm.getX(), {}, {}, norm.getEps()};
    return std::nullopt;
  }
};

// reshape(row_norm(reshape(x: [N, C, ..] to [N, G, M]))) -> group_norm(x) with G groups
struct RaiseGroupNorm : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    std::optional<NormalisedRows> rows = NormalisedRows::match(op.getX().getDefiningOp());
    auto merged = rows ? rows->x.getDefiningOp<ReshapeOp>() : ReshapeOp();
    if (!merged || !typeOf(op.getY()).hasStaticShape())
      return failure();
    Value x = merged.getX();
    ArrayRef<int64_t> image = shapeOf(x), grouped = shapeOf(rows->x);
    if (image != shapeOf(op.getY()) || image.size() < 3 || grouped.size() != 3 ||
        image[0] != grouped[0] || grouped[1] == 0 || image[1] % grouped[1] != 0)
      return failure();
    TensorBuilder b(rewriter, op.getX().getLoc());
    rewriter.replaceOp(op, b.make<GroupNormOp>(x, repeatGroups(b, rows->scale, image[1]),
                                               repeatGroups(b, rows->bias, image[1]),
                                               uint64_t(grouped[1]), rows->eps));
    return success();
  }
};

// group_norm(x) with scale 1 and bias 0 -> group_norm(x)
struct DropParameters : OpRewritePattern<GroupNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GroupNormOp op, PatternRewriter &rewriter) const override {
    Value scale = op.getScale(), bias = op.getBias();
    if (scale && splatValue(scale) == 1.0)
      scale = {};
    if (bias && isSplatWithValue(bias, 0))
      bias = {};
    if (scale == op.getScale() && bias == op.getBias())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, createGroupNorm(b, op, op.getX(), scale, bias));
    return success();
  }
};

// group_norm(x) * s -> group_norm(x) scale s    group_norm(x) + b -> group_norm(x) bias b
template <typename Op> struct TakeParameter : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    constexpr bool isScale = std::is_same_v<Op, MulOp>;
    for (auto [y, other] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      auto norm = y.template getDefiningOp<GroupNormOp>();
      if (!norm || !y.hasOneUse() || y.getType() != op.getY().getType() ||
          !typeOf(y).hasStaticShape() || norm.getBias() || (isScale && norm.getScale()))
        continue;
      TensorBuilder b(rewriter, op.getLoc());
      rewriter.setInsertionPoint(op);
      Value vector = toChannelVector(b, other, y);
      if (!vector)
        continue;
      rewriter.replaceOp(op,
                         createGroupNorm(b, norm, norm.getX(), isScale ? vector : norm.getScale(),
                                         isScale ? Value() : vector));
      return success();
    }
    return failure();
  }
};

} // namespace

void addNorms(RewritePatternSet &patterns) {
  patterns.add<RaiseGroupNorm, DropParameters, TakeParameter<MulOp>, TakeParameter<AddOp>>(
      patterns.getContext());
}

} // namespace dlc

//===- Arithmetic.cpp - powers, square roots, chains of constants ---------===//
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

bool isFloat(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }
bool sameShape(Value a, Value b) { return shapeOf(a) == shapeOf(b); }

// pow(x, 2) = x * x    pow(x, 3) = x * x * x    pow(x, 1) = x
// pow(x, 0.5) = sqrt(x)    pow(x, -0.5) = rsqrt(x)    pow(x, -1) = 1 / x
struct SimplifyPow : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Value x = op.getA();
    std::optional<double> exponent = splatValue(op.getB());
    if (!exponent || x.getType() != op.getY().getType())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value y;
    if (*exponent == 1)
      y = x;
    else if (*exponent == 2)
      y = b.make<MulOp>(x, x);
    else if (*exponent == 3)
      y = b.make<MulOp>(b.make<MulOp>(x, x), x);
    else if (*exponent == 0.5 && isFloat(x))
      y = b.make<SqrtOp>(x);
    else if (*exponent == -0.5 && isFloat(x))
      y = b.make<RsqrtOp>(x);
    else if (*exponent == -1 && isFloat(x))
      y = b.make<DivOp>(b.scalar(1, x), x);
    else
      return failure();
    rewriter.replaceOp(op, y);
    return success();
  }
};

// x / 2^n = x * 2^-n    a / sqrt(x) = a * rsqrt(x)    1 / sqrt(x) = rsqrt(x)
struct SimplifyDiv : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    if (!isFloat(op.getY()))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    if (std::optional<double> c = splatValue(op.getB())) {
      int exponent;
      double reciprocal = 1 / *c;
      // Exact only where neither the power of two nor its reciprocal leaves the normal numbers of
      // half precision.
      if (*c == 0 || std::fabs(std::frexp(*c, &exponent)) != 0.5 || std::abs(exponent) > 12 ||
          *c == 1)
        return failure();
      Value factor = b.scalar(reciprocal, op.getA());
      if (!sameShape(op.getA(), op.getY()))
        factor = b.broadcast(factor, shapeOf(op.getB()));
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getA(), factor);
      return success();
    }
    auto root = op.getB().getDefiningOp<SqrtOp>();
    if (!root || !root.getY().hasOneUse())
      return failure();
    Value inverse = b.make<RsqrtOp>(root.getX());
    if (isSplatOf(op.getA(), 1) && inverse.getType() == op.getY().getType())
      rewriter.replaceOp(op, inverse);
    else
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getA(), inverse);
    return success();
  }
};

/// The constant operand of a commutative operation and the other one.
template <typename Op> std::optional<std::pair<Value, Value>> splitConstant(Op op) {
  for (auto [x, c] : {std::pair<Value, Value>(op.getA(), op.getB()),
                      std::pair<Value, Value>(op.getB(), op.getA())})
    if (splatValue(c) && !splatValue(x) && sameShape(x, op.getY()))
      return std::make_pair(x, c);
  return std::nullopt;
}

// (x . c1) . c2 = x . (c1 . c2) for + and *, where the inner result has no other use
template <typename Op> struct MergeConstants : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto outer = splitConstant(op);
    if (!outer)
      return failure();
    auto innerOp = outer->first.template getDefiningOp<Op>();
    if (!innerOp || !outer->first.hasOneUse())
      return failure();
    auto inner = splitConstant(innerOp);
    if (!inner)
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value both = b.make<Op>(inner->second, outer->second);
    rewriter.replaceOpWithNewOp<Op>(op, inner->first, both);
    return success();
  }
};

// max(x, 0) = relu(x); with equal subgradients if the maximum is strict
struct MaxToRelu : OpRewritePattern<MaxOp> {
  MaxToRelu(MLIRContext *context, Keeps keeps) : OpRewritePattern(context), keeps(keeps) {}
  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter &rewriter) const override {
    auto split = splitConstant(op);
    if (!split || splatValue(split->second) != 0.0 ||
        (keeps == Keeps::Subgradients && !op.getStrict()))
      return failure();
    rewriter.replaceOpWithNewOp<ReluOp>(op, split->first);
    return success();
  }
  Keeps keeps;
};

// max(a, b) strict = max(a, b): only the gradients differ
template <typename Op> struct DropStrict : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getStrict())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setStrict(false); });
    return success();
  }
};

// select(true, a, b) = a    select(false, a, b) = b
struct ConstantSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    std::optional<double> condition = splatValue(op.getCondition());
    if (!condition)
      return failure();
    Value chosen = *condition != 0 ? op.getA() : op.getB();
    if (!sameShape(chosen, op.getY()))
      return failure();
    rewriter.replaceOp(op, chosen);
    return success();
  }
};

} // namespace

void addArithmetic(RewritePatternSet &patterns, Keeps keeps) {
  patterns
      .add<SimplifyPow, SimplifyDiv, MergeConstants<AddOp>, MergeConstants<MulOp>, ConstantSelect>(
          patterns.getContext());
  patterns.add<MaxToRelu>(patterns.getContext(), keeps);
  if (keeps == Keeps::Values)
    patterns.add<DropStrict<MaxOp>, DropStrict<MinOp>>(patterns.getContext());
}

} // namespace dlc

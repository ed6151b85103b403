//===- Arithmetic.cpp - simplifies powers, square roots and constant operands ---===//
#include "passes/ConstantRewrites.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

bool isFloat(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }
bool sameShape(Value a, Value b) { return shapeOf(a) == shapeOf(b); }

Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// Returns whether each element is +0, positive, infinite or NaN, so that none is negative or -0.
bool isNeverNegative(Value value, int depth = 0) {
  constexpr int maxDepth = 6;
  Operation *op = value.getDefiningOp();
  if (!op || depth == maxDepth || !isFloat(value))
    return false;
  if (std::optional<double> c = splatValue(value))
    return !std::signbit(*c);
  auto isPositiveOperand = [&](Value operand) { return isNeverNegative(operand, depth + 1); };
  if (op->hasTrait<NonNegativeResult>())
    return true;
  if (auto mul = dyn_cast<MulOp>(op); mul && mul.getA() == mul.getB())
    return true;
  // A maximum is excluded, because the maximum over no elements is minus infinity.
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::max && isPositiveOperand(reduce.getX());
  if (isa<MaxOp>(op) && llvm::any_of(op->getOperands(),
                                     [](Value bound) { return splatValue(bound).value_or(0) > 0; }))
    return true;
  return (op->hasTrait<PreservesNonNegative>() || op->hasTrait<ViewLike>()) &&
         llvm::all_of(op->getOperands(), isPositiveOperand);
}

/// Returns x to the constant power `exponent`, computed by simpler operations, or null if there are
/// none. A form that only approximates `pow` is used only if isRewriteAllowed() permits another
/// rounding.
Value expandPower(TensorBuilder &b, PowOp op, double exponent) {
  Value x = op.getA();
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return b.make<MulOp>(x, x);
  if (exponent == -1 && isFloat(x))
    return b.make<DivOp>(b.scalar(1, x), x);
  // sqrt(x) is used only if x is never negative or -0.0: pow(-inf, 0.5) is inf and pow(-0.0, 0.5)
  // is 0, in contrast to sqrt.
  if (exponent == 0.5 && isFloat(x) && isNeverNegative(x))
    return b.make<SqrtOp>(x);
  if (!isRewriteAllowed({ConstantRewrite::Kind::ChangeRounding, elementOf(x), {}}, op))
    return {};
  if (exponent == 3)
    return b.make<MulOp>(b.make<MulOp>(x, x), x);
  if (exponent == -0.5 && isFloat(x) && isNeverNegative(x))
    return b.make<RsqrtOp>(x);
  return {};
}

// pow(x, 2) -> x * x    pow(x, 3) -> x * x * x    pow(x, 1) -> x    pow(x, -1) -> 1 / x
// pow(x, 0.5) -> sqrt(x)    pow(x, -0.5) -> rsqrt(x)    if x is never negative
struct SimplifyPow : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    std::optional<double> exponent = splatValue(op.getB());
    if (!exponent || op.getA().getType() != op.getY().getType())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value y = expandPower(b, op, *exponent);
    if (!y)
      return failure();
    rewriter.replaceOp(op, y);
    return success();
  }
};

// x / 2^n -> x * 2^-n    a / sqrt(x) -> a * rsqrt(x)    1 / sqrt(x) -> rsqrt(x)
// The reciprocal square root of a finite non-zero number is never subnormal.
struct SimplifyDiv : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    if (!isFloat(op.getY()))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Type element = elementOf(op.getY());
    if (std::optional<double> c = splatValue(op.getB())) {
      if (!hasExactReciprocal(*c, element) || *c == 1)
        return failure();
      Value factor = b.scalar(1 / *c, op.getA());
      if (!sameShape(op.getA(), op.getY()))
        factor = b.broadcast(factor, shapeOf(op.getB()));
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getA(), factor);
      return success();
    }
    auto root = op.getB().getDefiningOp<SqrtOp>();
    if (!root || !root.getY().hasOneUse() ||
        !isRewriteAllowed({ConstantRewrite::Kind::ChangeRounding, element, {}}, op))
      return failure();
    Value inverse = b.make<RsqrtOp>(root.getX());
    if (isSplatWithValue(op.getA(), 1) && inverse.getType() == op.getY().getType())
      rewriter.replaceOp(op, inverse);
    else
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getA(), inverse);
    return success();
  }
};

/// Returns the non-constant and the constant operand of a commutative operation, or nullopt if
/// neither operand is a constant.
template <typename Op> std::optional<std::pair<Value, Value>> splitConstant(Op op) {
  for (auto [x, c] : {std::pair<Value, Value>(op.getA(), op.getB()),
                      std::pair<Value, Value>(op.getB(), op.getA())})
    if (splatValue(c) && !splatValue(x) && sameShape(x, op.getY()))
      return std::make_pair(x, c);
  return std::nullopt;
}

// (x . c1) . c2 -> x . (c1 . c2) for + and *, if the inner result has no other use and the
// constants may be merged
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
    constexpr auto kind = std::is_same_v<Op, MulOp> ? ConstantRewrite::Kind::MergeFactors
                                                    : ConstantRewrite::Kind::MergeTerms;
    if (!inner ||
        !isRewriteAllowed(
            {kind, elementOf(op.getY()), {*splatValue(inner->second), *splatValue(outer->second)}},
            op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value both = b.make<Op>(inner->second, outer->second);
    rewriter.replaceOpWithNewOp<Op>(op, inner->first, both);
    return success();
  }
};

// max(x, 0) -> relu(x); the subgradients are equal only if the maximum is strict
struct MaxToRelu : OpRewritePattern<MaxOp> {
  MaxToRelu(MLIRContext *context, Exactness exactness)
      : OpRewritePattern(context), exactness(exactness) {}
  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter &rewriter) const override {
    auto split = splitConstant(op);
    std::optional<double> bound = split ? splatValue(split->second) : std::nullopt;
    // max(x, -0.0) is excluded, because it preserves -0.0 and relu does not.
    if (bound != 0.0 || std::signbit(*bound) ||
        (exactness == Exactness::Subgradients && !op.getStrict()))
      return failure();
    rewriter.replaceOpWithNewOp<ReluOp>(op, split->first);
    return success();
  }
  Exactness exactness;
};

// max(a, b) strict -> max(a, b): `strict` affects only gradients
template <typename Op> struct DropStrict : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getStrict())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setStrict(false); });
    return success();
  }
};

// select(true, a, b) -> a    select(false, a, b) -> b
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

void addArithmetic(RewritePatternSet &patterns, Exactness exactness) {
  patterns
      .add<SimplifyPow, SimplifyDiv, MergeConstants<AddOp>, MergeConstants<MulOp>, ConstantSelect>(
          patterns.getContext());
  patterns.add<MaxToRelu>(patterns.getContext(), exactness);
  if (exactness == Exactness::Values)
    patterns.add<DropStrict<MaxOp>, DropStrict<MinOp>>(patterns.getContext());
}

} // namespace dlc

//===- Activations.cpp - recognizes GELU and Mish as exporters write them ---===//
#include "passes/ConstantRewrites.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

constexpr double sqrtHalf = 0.70710678118654752440;
constexpr double sqrtTwoOverPi = 0.79788456080286535588;

bool near(double a, double b) { return std::fabs(a - b) <= 2e-4 * std::fabs(b); }

/// Flattened product of a tree of multiplications: the constant factors, their product, and all
/// other factors.
struct FactorProduct {
  double constant = 1;
  SmallVector<double, 4> constants;
  SmallVector<Value> factors;

  void multiply(double c) {
    constant *= c;
    constants.push_back(c);
  }
};

void collectFactors(Value value, Value x, FactorProduct &product) {
  if (value == x)
    return product.factors.push_back(value);
  if (std::optional<double> c = splatValue(value))
    return product.multiply(*c);
  // The number of factors is limited, because a product whose subtrees are shared could be
  // exponential.
  if (product.factors.size() > 8)
    return product.factors.push_back(value);
  if (auto mul = value.getDefiningOp<MulOp>()) {
    collectFactors(mul.getA(), x, product);
    collectFactors(mul.getB(), x, product);
    return;
  }
  if (auto div = value.getDefiningOp<DivOp>()) {
    std::optional<double> c = splatValue(div.getB());
    if (c && *c != 0) {
      product.multiply(1 / *c);
      collectFactors(div.getA(), x, product);
      return;
    }
  }
  product.factors.push_back(value);
}

/// Flattens a tree of multiplications. `x` is kept as a factor even if it is a product itself.
FactorProduct flattenProduct(Value value, Value x = {}) {
  FactorProduct product;
  collectFactors(value, x, product);
  return product;
}

/// Returns x if the value is 1 + x or x + 1, otherwise null.
Value matchPlusOne(Value value) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return {};
  if (isSplatWithValue(add.getA(), 1))
    return add.getB();
  return isSplatWithValue(add.getB(), 1) ? add.getA() : Value();
}

bool isPowerOf(const FactorProduct &product, Value x, size_t power) {
  return product.factors.size() == power &&
         llvm::all_of(product.factors, [&](Value v) { return v == x; });
}

/// Returns whether c x (1 + f(x)) may be rewritten to 2 c gelu(x), which rounds differently.
bool canRewriteToGelu(MulOp op, const FactorProduct &product) {
  Type element = typeOf(op.getY()).getElementType();
  SmallVector<double, 4> factors = product.constants;
  if (std::fabs(product.constant) > 1)
    factors.push_back(2);
  return isRewriteAllowed({ConstantRewrite::Kind::ChangeRounding, element, {}}, op) &&
         isRewriteAllowed({ConstantRewrite::Kind::MergeFactors, element, factors}, op);
}

/// Matches the argument of erf in GELU: x / sqrt(2).
bool isErfArgument(Value value, Value x) {
  FactorProduct product = flattenProduct(value, x);
  return near(product.constant, sqrtHalf) && isPowerOf(product, x, 1);
}

/// Matches the argument of tanh in GELU: sqrt(2 / pi) * (x + 0.044715 x^3), also with x factored
/// out of the sum.
bool isTanhArgument(Value value, Value x) {
  FactorProduct product = flattenProduct(value, x);
  if (!near(product.constant, sqrtTwoOverPi))
    return false;
  auto isCube = [&](Value cube, size_t power) {
    FactorProduct p = flattenProduct(cube, x);
    return near(p.constant, 0.044715) && isPowerOf(p, x, power);
  };
  if (product.factors.size() == 1) {
    auto sum = product.factors[0].getDefiningOp<AddOp>();
    return sum && ((sum.getA() == x && isCube(sum.getB(), 3)) ||
                   (sum.getB() == x && isCube(sum.getA(), 3)));
  }
  if (product.factors.size() != 2)
    return false;
  for (int i : {0, 1}) {
    Value square = matchPlusOne(product.factors[i]);
    if (square && product.factors[1 - i] == x && isCube(square, 2))
      return true;
  }
  return false;
}

/// Returns the values that may be the x of GELU, given the argument of its erf or tanh, which is a
/// scaled form of x.
SmallVector<Value> geluArgumentCandidates(Value argument) {
  SmallVector<Value> found;
  if (auto mul = argument.getDefiningOp<MulOp>())
    found.append({mul.getA(), mul.getB()});
  if (auto div = argument.getDefiningOp<DivOp>())
    found.push_back(div.getA());
  for (Value factor : flattenProduct(argument).factors) {
    found.push_back(factor);
    if (auto sum = factor.getDefiningOp<AddOp>())
      found.append({sum.getA(), sum.getB()});
  }
  return found;
}

/// Returns whether the product has no constant factor, but its only user multiplies or divides it
/// by a constant. In that case GELU is matched from that user.
bool isScaledByUser(MulOp op, const FactorProduct &product) {
  if (!product.constants.empty() || !op.getY().hasOneUse())
    return false;
  Operation *user = *op.getY().user_begin();
  bool isFirst = user->getOperand(0) == op.getY();
  return (isa<MulOp>(user) || (isa<DivOp>(user) && isFirst)) &&
         splatValue(user->getOperand(isFirst ? 1 : 0));
}

// c x (1 + erf(x / sqrt(2))) -> 2 c gelu(x), where c is 1/2 or is multiplied later
// c x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) -> 2 c gelu(x) approximate
struct RecogniseGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(typeOf(op.getY()).getElementType()))
      return failure();
    FactorProduct all = flattenProduct(op.getY());
    if (isScaledByUser(op, all))
      return failure();
    for (Value factor : all.factors) {
      Value inner = matchPlusOne(factor);
      if (!inner || !isa_and_nonnull<ErfOp, TanhOp>(inner.getDefiningOp()))
        continue;
      Value argument = inner.getDefiningOp()->getOperand(0);
      bool approximate = isa<TanhOp>(inner.getDefiningOp());
      for (Value x : geluArgumentCandidates(argument)) {
        if (x.getType() != op.getY().getType() || splatValue(x))
          continue;
        FactorProduct product = flattenProduct(op.getY(), x);
        if (product.factors.size() != 2 || !llvm::is_contained(product.factors, x) ||
            !llvm::is_contained(product.factors, factor))
          continue;
        if (approximate ? !isTanhArgument(argument, x) : !isErfArgument(argument, x))
          continue;
        if (!canRewriteToGelu(op, product))
          continue;
        TensorBuilder b(rewriter, op.getLoc());
        Value y = b.make<GeluOp>(x, approximate);
        if (product.constant != 0.5)
          y = b.make<MulOp>(y, b.scalar(2 * product.constant, y));
        rewriter.replaceOp(op, y);
        return success();
      }
    }
    return failure();
  }
};

/// Matches softplus: returns the x of log(1 + exp(x)), also written as max(x, 0) +
/// log1p(exp(-|x|)), or null.
Value matchSoftplus(Value value) {
  auto exponentialIn = [](Value v) {
    if (auto log1p = v.getDefiningOp<Log1pOp>())
      return log1p.getX().getDefiningOp<ExpOp>();
    auto log = v.getDefiningOp<LogOp>();
    Value rest = log ? matchPlusOne(log.getX()) : Value();
    return rest ? rest.getDefiningOp<ExpOp>() : ExpOp();
  };
  if (ExpOp exponential = exponentialIn(value))
    return exponential.getX();
  auto add = value.getDefiningOp<AddOp>();
  for (auto [positive, other] : {std::pair(0, 1), std::pair(1, 0)}) {
    ExpOp exponential = add ? exponentialIn(add->getOperand(other)) : ExpOp();
    auto negative = exponential ? exponential.getX().getDefiningOp<NegOp>() : NegOp();
    auto distance = negative ? negative.getX().getDefiningOp<AbsOp>() : AbsOp();
    if (!distance)
      continue;
    Value x = distance.getX(), most = add->getOperand(positive);
    auto relu = most.getDefiningOp<ReluOp>();
    auto max = most.getDefiningOp<MaxOp>();
    if ((relu && relu.getX() == x) || (max && max.getA() == x && isSplatWithValue(max.getB(), 0)) ||
        (max && max.getB() == x && isSplatWithValue(max.getA(), 0)))
      return x;
  }
  return {};
}

// tanh(log(1 + exp(x))) -> p / (p + 2) with p = n (n + 2) and n = exp(x): Mish with one exponential
struct TanhOfSoftplus : OpRewritePattern<TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TanhOp op, PatternRewriter &rewriter) const override {
    // Upper bound to which x is clamped. For larger x the result rounds to 1, and the clamp keeps p
    // finite.
    constexpr double most = 20;
    Value x = matchSoftplus(op.getX());
    // 16-bit types are not supported: each step would be rounded to fewer bits, and f16 cannot
    // represent such a p.
    if (!x || typeOf(x).getElementTypeBitWidth() < 32 ||
        !isRewriteAllowed({ConstantRewrite::Kind::ChangeRounding, typeOf(x).getElementType(), {}},
                          op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value two = b.scalar(2, x), n = b.make<ExpOp>(b.make<MinOp>(x, b.scalar(most, x)));
    Value p = b.make<MulOp>(n, b.make<AddOp>(n, two));
    rewriter.replaceOp(op, b.make<DivOp>(p, b.make<AddOp>(p, two)));
    return success();
  }
};

} // namespace

void addActivations(RewritePatternSet &patterns) {
  // These patterns have a higher benefit, because they must match before other patterns move the
  // constants within the product.
  patterns.add<RecogniseGelu, TanhOfSoftplus>(patterns.getContext(), /*benefit=*/4);
}

} // namespace dlc

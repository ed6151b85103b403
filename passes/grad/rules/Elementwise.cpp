//===- Elementwise.cpp - gradients of elementwise operations --------------===//
#include "passes/grad/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace dlc::grad {
namespace {

// Gradient rules, with one overload for each operation. `derivative`, for a unary operation,
// returns dx from dy, x and y. `backward` adds to the gradients of the operands. An operation
// without an overload of either function does not compile.

// dx = dy sign(x)
Expr derivative(AbsOp, Expr dy, Expr x, Expr) { return dy * x.as<SignOp>(); }
// dx = -dy
Expr derivative(NegOp, Expr dy, Expr, Expr) { return -dy; }
// dx = dy y
Expr derivative(ExpOp, Expr dy, Expr, Expr y) { return dy * y; }
// dx = dy (y + 1)
Expr derivative(Expm1Op, Expr dy, Expr, Expr y) { return dy * (y + 1); }
// dx = dy / x
Expr derivative(LogOp, Expr dy, Expr x, Expr) { return dy / x; }
// dx = dy / (1 + x)
Expr derivative(Log1pOp, Expr dy, Expr x, Expr) { return dy / (x + 1); }
// dx = -dy / 2 * y^3
Expr derivative(RsqrtOp, Expr dy, Expr, Expr y) { return -0.5 * dy * (y * y * y); }
// dx = dy cos(x)
Expr derivative(SinOp, Expr dy, Expr x, Expr) { return dy * x.as<CosOp>(); }
// dx = -dy sin(x)
Expr derivative(CosOp, Expr dy, Expr x, Expr) { return -(dy * x.as<SinOp>()); }
// dx = dy (1 + y^2)
Expr derivative(TanOp, Expr dy, Expr, Expr y) { return dy * (y * y + 1); }
// dx = dy / sqrt(1 - x^2)
Expr derivative(AsinOp, Expr dy, Expr x, Expr) { return dy * (1 - x * x).as<RsqrtOp>(); }
// dx = -dy / sqrt(1 - x^2)
Expr derivative(AcosOp, Expr dy, Expr x, Expr) { return -(dy * (1 - x * x).as<RsqrtOp>()); }
// dx = dy / (1 + x^2)
Expr derivative(AtanOp, Expr dy, Expr x, Expr) { return dy / (x * x + 1); }
// dx = dy cosh(x)
Expr derivative(SinhOp, Expr dy, Expr x, Expr) { return dy * x.as<CoshOp>(); }
// dx = dy sinh(x)
Expr derivative(CoshOp, Expr dy, Expr x, Expr) { return dy * x.as<SinhOp>(); }
// dx = dy (1 - y^2)
Expr derivative(TanhOp, Expr dy, Expr, Expr y) { return dy * (1 - y * y); }
// dx = dy / sqrt(x^2 + 1)
Expr derivative(AsinhOp, Expr dy, Expr x, Expr) { return dy * (x * x + 1).as<RsqrtOp>(); }
// dx = dy / sqrt((x - 1) (x + 1))
Expr derivative(AcoshOp, Expr dy, Expr x, Expr) { return dy * ((x - 1) * (x + 1)).as<RsqrtOp>(); }
// dx = dy / ((1 - x) (1 + x))
Expr derivative(AtanhOp, Expr dy, Expr x, Expr) { return dy / ((1 - x) * (x + 1)); }

// dx = dy 2 / sqrt(pi) exp(-x^2)
Expr derivative(ErfOp, Expr dy, Expr x, Expr) {
  return dy * (2 * std::numbers::inv_sqrtpi * (-(x * x)).as<ExpOp>());
}

// dx = -dy 2 / sqrt(pi) exp(-x^2)
Expr derivative(ErfcOp, Expr dy, Expr x, Expr) {
  return dy * (-2 * std::numbers::inv_sqrtpi * (-(x * x)).as<ExpOp>());
}

// dx = dy sqrt(pi) / 2 exp(y^2)
Expr derivative(ErfinvOp, Expr dy, Expr, Expr y) {
  return dy * (0.5 / std::numbers::inv_sqrtpi * (y * y).as<ExpOp>());
}

// dx = dy y (1 - y)
Expr derivative(SigmoidOp, Expr dy, Expr, Expr y) { return dy * (y * (1 - y)); }

// dx = dy where y > 0, else 0
Expr derivative(ReluOp, Expr dy, Expr, Expr y) {
  return keep(compare(Predicate::gt, y, y.scalar(0)), dy);
}

/// Returns the derivative of gelu(x) = x Phi(x), where Phi is the normal distribution function or
/// its tanh approximation.
Expr geluDerivative(Expr x, bool approximate) {
  if (!approximate) {
    // The derivative of x Phi(x) is Phi(x) + x phi(x), where phi is the normal density
    Expr phi = (-0.5 * (x * x)).as<ExpOp>();
    Expr cumulative = 0.5 * ((std::numbers::sqrt2 / 2 * x).as<ErfOp>() + 1);
    return cumulative + (std::numbers::inv_sqrtpi / std::numbers::sqrt2) * (x * phi);
  }
  // The derivative of x (1 + tanh u) / 2 with u = c (x + a x^3) is (1 + tanh u) / 2 + x (1 - tanh^2
  // u) u' / 2
  const double a = 0.044715, c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  Expr square = x * x;
  Expr t = (x * (c * a * square + c)).as<TanhOp>();
  return 0.5 * (t + 1) + 0.5 * (x * (1 - t * t) * (3 * c * a * square + c));
}

// da = dy, db = dy
void backward(AddOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  g.add(op.getA(), [&] { return dy; });
  g.add(op.getB(), [&] { return dy; });
}

bool isEvenPower(double exponent) { return exponent > 0 && std::fmod(exponent, 2) == 0; }

/// Returns whether a value is a sum of even powers, or of powers of absolute values, with or
/// without factors. Norms and standard deviations are roots of such sums. If such a sum is 0, all
/// of its terms and their gradients are 0. Expressions deeper than `depth` are not searched.
bool isSumOfEvenPowers(Value value, int depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto isInside = [&](unsigned i) { return isSumOfEvenPowers(op->getOperand(i), depth - 1); };
  if (auto pow = dyn_cast<PowOp>(op)) {
    double exponent = splatValue(pow.getB()).value_or(0);
    return isEvenPower(exponent) || (exponent > 0 && isInside(0));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::prod && isInside(0);
  if (isa<MulOp, DivOp>(op) && splatValue(op->getOperand(1)))
    return isInside(0);
  if (isa<MulOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  // Multiplications are included, because |x|^3 is rewritten to |x| |x| |x|.
  if (isa<AddOp, MulOp>(op))
    return isInside(0) && isInside(1);
  if (op->hasTrait<ViewLike>() || isa<AvgPoolOp, CastOp>(op))
    return isInside(0);
  return isa<AbsOp>(op);
}

/// Returns the slope (derivative) of a root of x. For a sum of powers, such as a norm, the slope at
/// 0 is set to 0: otherwise infinity times the gradient of the powers, which is 0, would be NaN.
Expr rootDerivative(Value root, Expr x, Expr slope) {
  return isSumOfEvenPowers(root) ? drop(compare(Predicate::eq, x, x.scalar(0)), slope) : slope;
}

// dx = dy / 2 / y
void backward(SqrtOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), y = g(op.getY());
  g.add(op.getX(), [&] { return dy * rootDerivative(op.getX(), y, 0.5 / y); });
}

// da = dy, db = -dy
void backward(SubOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  g.add(op.getA(), [&] { return dy; });
  g.add(op.getB(), [&] { return -dy.fit(shapeOf(op.getB())); });
}

// da = dy b, db = dy a
void backward(MulOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  g.add(op.getA(), [&] { return dy * g(op.getB()); });
  g.add(op.getB(), [&] { return dy * g(op.getA()); });
}

// da = dy / b, db = -dy y / b
void backward(DivOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), b = g(op.getB());
  g.add(op.getA(), [&] { return dy / b; });
  g.add(op.getB(), [&] { return -(dy * g(op.getY()) / b); });
}

/// Returns the derivative of a^b with respect to a: b a^(b - 1), or 0 if b is 0.
Expr powerBaseDerivative(PowOp op, Expr a, Expr b) {
  std::optional<double> exponent = splatValue(op.getB());
  if (!exponent) {
    b = b.cast(a.element());
    return drop(compare(Predicate::eq, b, b.scalar(0)), b * a.with<PowOp>(b - 1));
  }
  Expr slope = *exponent * a.with<PowOp>(a.scalar(*exponent - 1));
  return *exponent < 1 ? rootDerivative(op.getA(), a, slope) : slope;
}

// da = dy b a^(b - 1), db = dy y log(a). db is set to 0 where a is 0 and b is not negative.
void backward(PowOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), a = g(op.getA()), b = g(op.getB());
  g.add(op.getA(), [&]() -> Value {
    if (splatValue(op.getB()) == 0.0)
      return zeros(g.build(), op.getA().getType());
    return dy * powerBaseDerivative(op, a, b).fit(dy.shape());
  });
  g.add(op.getB(), [&] {
    Expr isZero = compare(Predicate::eq, a, a.scalar(0));
    Expr isRoot = compare(Predicate::ge, b, b.scalar(0));
    return dy * drop(isZero.with<AndOp>(isRoot), g(op.getY()) * a.as<LogOp>());
  });
}

// da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2). Both are set to 0 at (0, 0).
void backward(Atan2Op op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), a = g(op.getA()), b = g(op.getB());
  Expr square = a * a + b * b;
  Expr share = drop(compare(Predicate::eq, square, square.scalar(0)), dy / square);
  g.add(op.getA(), [&] { return share * b; });
  g.add(op.getB(), [&] { return -(share * a); });
}

// The remainder is y = a - n b with an integer n: da = dy, db = -dy n
void backward(RemOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), b = g(op.getB());
  g.add(op.getA(), [&] { return dy; });
  g.add(op.getB(),
        [&] { return -(dy * ((g(op.getA()) - g(op.getY())) / b).template as<RoundOp>()); });
}

/// Gradient of max and min: da = dy where `aWins` holds for (a, b), db = dy where `bWins` holds.
/// Equal operands get half of dy each, or nothing if the attribute `strict` is set.
template <typename Op>
void minMaxBackward(Op op, BackwardPass &g, Predicate aWins, Predicate bWins) {
  Expr dy = g.of(op.getY()), a = g(op.getA()), b = g(op.getB());
  if (op.getStrict()) {
    g.add(op.getA(), [&] { return keep(compare(aWins, a, b), dy); });
    g.add(op.getB(), [&] { return keep(compare(bWins, a, b), dy); });
    return;
  }
  Expr share = select(compare(Predicate::eq, a, b), 0.5 * dy, dy);
  g.add(op.getA(), [&] { return drop(compare(bWins, a, b), share); });
  g.add(op.getB(), [&] { return drop(compare(aWins, a, b), share); });
}
void backward(MaxOp op, BackwardPass &g) { minMaxBackward(op, g, Predicate::gt, Predicate::lt); }
void backward(MinOp op, BackwardPass &g) { minMaxBackward(op, g, Predicate::lt, Predicate::gt); }

// dx = dy gelu'(x)
void backward(GeluOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  g.add(op.getX(), [&] { return dy * geluDerivative(g(op.getX()), op.getApproximate()); });
}

// dx = dy in x's element type
Expr derivative(CastOp, Expr dy, Expr x, Expr) { return dy.cast(x.element()); }

// da = dy where the condition holds, db = dy elsewhere
void backward(SelectOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), condition = g(op.getCondition());
  g.add(op.getA(), [&] { return keep(condition, dy); });
  g.add(op.getB(), [&] { return drop(condition, dy); });
}

template <typename Op>
concept HasDerivative = requires(Op op, Expr e) {
  derivative(op, e, e, e);
};
template <typename Op>
concept HasBackward = requires(Op op, BackwardPass &g) {
  backward(op, g);
};
template <typename Op>
concept HasGradient = HasDerivative<Op> || HasBackward<Op> || Op::template hasTrait<NoGradient>();

template <typename Op> void addElementwiseRule(GradientRules &rules) {
  if constexpr (HasDerivative<Op>)
    rules.unary<Op>([](Expr dy, Expr x, Expr y) { return derivative(Op(), dy, x, y); });
  else if constexpr (HasBackward<Op>)
    rules.add<Op>([](Op op, BackwardPass &g) { backward(op, g); });
}

} // namespace

void addElementwiseGradients(GradientRules &rules) {
#define DLC_ELEMENTWISE(Op, mnemonic, value, operands)                                             \
  static_assert(HasGradient<Op>, "no gradient of " #mnemonic);                                     \
  addElementwiseRule<Op>(rules);
#include "ir/dlc/ElementwiseTable.inc"
}

} // namespace dlc::grad

//===- Elementwise.cpp - gradients of elementwise operations --------------===//
#include "passes/grad/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace dlc::grad {

static void addFunctions(Rules &rules) {
  // dx = dy sign(x)
  rules.unary<AbsOp>([](Expr dy, Expr x, Expr) { return dy * x.as<SignOp>(); });
  // dx = -dy
  rules.unary<NegOp>([](Expr dy, Expr, Expr) { return -dy; });
  // dx = dy y
  rules.unary<ExpOp>([](Expr dy, Expr, Expr y) { return dy * y; });
  // dx = dy (y + 1)
  rules.unary<Expm1Op>([](Expr dy, Expr, Expr y) { return dy * (y + 1); });
  // dx = dy / x
  rules.unary<LogOp>([](Expr dy, Expr x, Expr) { return dy / x; });
  // dx = dy / (1 + x)
  rules.unary<Log1pOp>([](Expr dy, Expr x, Expr) { return dy / (x + 1); });
  // dx = dy / 2 / y
  rules.unary<SqrtOp>([](Expr dy, Expr, Expr y) { return 0.5 * dy / y; });
  // dx = -dy / 2 * y^3
  rules.unary<RsqrtOp>([](Expr dy, Expr, Expr y) { return -0.5 * dy * (y * y * y); });
  // dx = dy cos(x)
  rules.unary<SinOp>([](Expr dy, Expr x, Expr) { return dy * x.as<CosOp>(); });
  // dx = -dy sin(x)
  rules.unary<CosOp>([](Expr dy, Expr x, Expr) { return -(dy * x.as<SinOp>()); });
  // dx = dy (1 + y^2)
  rules.unary<TanOp>([](Expr dy, Expr, Expr y) { return dy * (y * y + 1); });
  // dx = dy / sqrt(1 - x^2)
  rules.unary<AsinOp>([](Expr dy, Expr x, Expr) { return dy * (1 - x * x).as<RsqrtOp>(); });
  // dx = -dy / sqrt(1 - x^2)
  rules.unary<AcosOp>([](Expr dy, Expr x, Expr) { return -(dy * (1 - x * x).as<RsqrtOp>()); });
  // dx = dy / (1 + x^2)
  rules.unary<AtanOp>([](Expr dy, Expr x, Expr) { return dy / (x * x + 1); });
  // dx = dy cosh(x)
  rules.unary<SinhOp>([](Expr dy, Expr x, Expr) { return dy * x.as<CoshOp>(); });
  // dx = dy sinh(x)
  rules.unary<CoshOp>([](Expr dy, Expr x, Expr) { return dy * x.as<SinhOp>(); });
  // dx = dy (1 - y^2)
  rules.unary<TanhOp>([](Expr dy, Expr, Expr y) { return dy * (1 - y * y); });
  // dx = dy / sqrt(x^2 + 1)
  rules.unary<AsinhOp>([](Expr dy, Expr x, Expr) { return dy * (x * x + 1).as<RsqrtOp>(); });
  // dx = dy / sqrt((x - 1) (x + 1))
  rules.unary<AcoshOp>(
      [](Expr dy, Expr x, Expr) { return dy * ((x - 1) * (x + 1)).as<RsqrtOp>(); });
  // dx = dy / ((1 - x) (1 + x))
  rules.unary<AtanhOp>([](Expr dy, Expr x, Expr) { return dy / ((1 - x) * (x + 1)); });
  // dx = dy 2 / sqrt(pi) exp(-x^2)
  rules.unary<ErfOp>([](Expr dy, Expr x, Expr) {
    return dy * (2 * std::numbers::inv_sqrtpi * (-(x * x)).as<ExpOp>());
  });
  // dx = dy y (1 - y)
  rules.unary<SigmoidOp>([](Expr dy, Expr, Expr y) { return dy * (y * (1 - y)); });
  // dx = dy where y > 0, else 0
  rules.unary<ReluOp>(
      [](Expr dy, Expr, Expr y) { return keep(compare(Predicate::gt, y, y.scalar(0)), dy); });
}

/// The derivative of x Phi(x), with Phi in the exact form or that of tanh.
static Expr geluDerivative(Expr x, bool approximate) {
  if (!approximate) {
    // Phi(x) + x phi(x)
    Expr phi = (-0.5 * (x * x)).as<ExpOp>();
    Expr cumulative = 0.5 * ((std::numbers::sqrt2 / 2 * x).as<ErfOp>() + 1);
    return cumulative + (std::numbers::inv_sqrtpi / std::numbers::sqrt2) * (x * phi);
  }
  // u = c (x + a x^3): (1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2
  const double a = 0.044715, c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  Expr square = x * x;
  Expr t = (x * (c * a * square + c)).as<TanhOp>();
  return 0.5 * (t + 1) + 0.5 * (x * (1 - t * t) * (3 * c * a * square + c));
}

static void addArithmetic(Rules &rules) {
  // da = dy, db = dy
  rules.add<AddOp>([](AddOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getA(), [&] { return dy; });
    g.add(op.getB(), [&] { return dy; });
  });
  // da = dy, db = -dy
  rules.add<SubOp>([](SubOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getA(), [&] { return dy; });
    g.add(op.getB(), [&] { return -dy.fit(shapeOf(op.getB())); });
  });
  // da = dy b, db = dy a
  rules.add<MulOp>([](MulOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getA(), [&] { return dy * g(op.getB()); });
    g.add(op.getB(), [&] { return dy * g(op.getA()); });
  });
  // da = dy / b, db = -dy y / b
  rules.add<DivOp>([](DivOp op, Backward &g) {
    Expr dy = g.of(op.getY()), b = g(op.getB());
    g.add(op.getA(), [&] { return dy / b; });
    g.add(op.getB(), [&] { return -(dy * g(op.getY()) / b); });
  });
  // da = dy b a^(b - 1), db = dy y log(a), taken as 0 where a is 0
  rules.add<PowOp>([](PowOp op, Backward &g) {
    Expr dy = g.of(op.getY()), a = g(op.getA());
    g.add(op.getA(), [&]() -> Value {
      if (std::optional<double> exponent = splatValue(op.getB()))
        return dy * (*exponent * a.with<PowOp>(a.scalar(*exponent - 1))).fit(dy.shape());
      Expr b = g(op.getB()).cast(a.element());
      return dy * (b * a.with<PowOp>(b - 1));
    });
    g.add(op.getB(), [&] {
      Expr zero = compare(Predicate::eq, a, a.scalar(0));
      return dy * drop(zero, g(op.getY()) * a.as<LogOp>());
    });
  });
  // y = a - n b: da = dy, db = -dy n
  rules.add<RemOp>([](RemOp op, Backward &g) {
    Expr dy = g.of(op.getY()), b = g(op.getB());
    g.add(op.getA(), [&] { return dy; });
    g.add(op.getB(),
          [&] { return -(dy * ((g(op.getA()) - g(op.getY())) / b).template as<RoundOp>()); });
  });
}

/// Of equal operands the first takes the gradient.
template <typename Op> static void addChoice(Rules &rules, Predicate first) {
  // da = dy where a is chosen, db = dy elsewhere
  rules.add<Op>([first](Op op, Backward &g) {
    Expr dy = g.of(op.getY());
    Expr chosen = compare(first, g(op.getA()), g(op.getB()));
    g.add(op.getA(), [&] { return keep(chosen, dy); });
    g.add(op.getB(), [&] { return drop(chosen, dy); });
  });
}

void addElementwise(Rules &rules) {
  rules.constant<SignOp, CeilOp, FloorOp, RoundOp>();
  addFunctions(rules);
  addArithmetic(rules);
  addChoice<MaxOp>(rules, Predicate::ge);
  addChoice<MinOp>(rules, Predicate::le);
  // dx = dy gelu'(x)
  rules.add<GeluOp>([](GeluOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getX(), [&] { return dy * geluDerivative(g(op.getX()), op.getApproximate()); });
  });
  // dx = dy in x's element type
  rules.unary<CastOp>([](Expr dy, Expr x, Expr) { return dy.cast(x.element()); });
  // da = dy where the condition holds, db = dy elsewhere
  rules.add<SelectOp>([](SelectOp op, Backward &g) {
    Expr dy = g.of(op.getY()), condition = g(op.getCondition());
    g.add(op.getA(), [&] { return keep(condition, dy); });
    g.add(op.getB(), [&] { return drop(condition, dy); });
  });
}

} // namespace dlc::grad

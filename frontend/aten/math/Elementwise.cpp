//===- Elementwise.cpp - arithmetic, bitwise operations, clamps -----------===//
#include "frontend/aten/Gradient.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Reads two operands, cast to the element type of the result.
std::pair<Value, Value> readBinaryOperands(Node &n, Build &, StringRef first = "self",
                                           StringRef second = "other") {
  Type element = n.resultElement();
  return {n.operand(first, element), n.operand(second, element)};
}

/// Multiplies the second operand of add or sub by the argument `alpha`.
Value multiplyByAlpha(Node &n, Build &b, Value v) {
  if (!n.has("alpha") || !v || b.isBool(v))
    return v;
  Value alpha = n.operand("alpha", b.elem(v));
  auto known = b.known(alpha);
  return known && known->getDouble(0) == 1 ? v : b.mul(v, alpha);
}

void add(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.isBool(x) ? b.either(x, y) : b.add(x, multiplyByAlpha(n, b, y)));
}

void sub(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.sub(x, multiplyByAlpha(n, b, y)));
}

void rsub(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.sub(y, multiplyByAlpha(n, b, x)));
}

void mul(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.isBool(x) ? b.both(x, y) : b.mul(x, y));
}

/// copysign: returns x with the sign of y. Zeros have a sign.
Value buildCopySign(Build &b, Value x, Value y) {
  Value negative = b.either(b.compare(Predicate::lt, y, b.like(y, 0)),
                            b.both(b.compare(Predicate::eq, y, b.like(y, 0)),
                                   b.compare(Predicate::lt, b.div(b.like(y, 1), y), b.like(y, 0))));
  Value size = b.unary<AbsOp>(x);
  return b.select(negative, b.unary<NegOp>(size), size);
}

/// Floor division as in Python. The quotient is computed from x minus the remainder, so that
/// rounding cannot increase it to the next integer.
Value buildFloorDivide(Build &b, Value x, Value y) {
  if (!b.isFloat(x))
    return b.div(b.sub(x, b.rem(x, y)), y);
  Type given = b.elem(x);
  x = b.widen(x), y = b.widen(y);
  Value rest = b.rem(x, y, /*truncated=*/true), zero = b.like(x, 0), quotient = b.div(x, y);
  Value whole = b.div(b.sub(x, rest), y);
  Value differs =
      b.op<XorOp>({b.compare(Predicate::lt, rest, zero), b.compare(Predicate::lt, y, zero)});
  Value lower = b.both(b.compare(Predicate::ne, rest, zero), differs);
  whole = b.select(lower, b.sub(whole, 1.0), whole);
  Value down = b.unary<FloorOp>(whole);
  down = b.select(b.compare(Predicate::gt, b.sub(whole, down), b.like(x, 0.5)), b.add(down, 1.0),
                  down);
  Value result =
      b.select(b.compare(Predicate::ne, whole, zero), down, buildCopySign(b, zero, quotient));
  return b.cast(b.select(b.compare(Predicate::eq, y, zero), quotient, result), given);
}

Value truncate(Build &b, Value x) {
  if (!b.isFloat(x))
    return x;
  return b.select(b.compare(Predicate::lt, x, b.like(x, 0)), b.unary<CeilOp>(x),
                  b.unary<FloorOp>(x));
}

void divide(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  std::string mode = n.text("rounding_mode");
  if (mode == "floor")
    return n.set(buildFloorDivide(b, x, y));
  // For integers, dlc.div rounds toward zero.
  Value quotient = b.isHalf(x) ? b.div(b.widen(x), b.widen(y)) : b.div(x, y);
  if (mode == "trunc")
    quotient = truncate(b, quotient);
  n.set(b.cast(quotient, n.resultElement()));
}

void floorDivision(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(buildFloorDivide(b, x, y));
}

template <bool truncated> void remainder(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.rem(x, y, truncated));
}

void power(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b, "self", "exponent");
  auto exponent = b.known(y);
  if (exponent && exponent->size() == 1) {
    double p = exponent->getDouble(0);
    if (p == 1)
      return n.set(x);
    if (p == 2)
      return n.set(b.mul(x, x));
    if (p == 3)
      return n.set(b.mul(b.mul(x, x), x));
    // pow with exponents of 1/2 and -1/2 uses sqrt and rsqrt as PyTorch does; they differ from pow
    // for -0.0 and -inf.
    if (p == 0.5 && b.isFloat(x))
      return n.set(b.unary<SqrtOp>(x));
    if (p == -0.5 && b.isFloat(x))
      return n.set(b.unary<RsqrtOp>(x));
  }
  n.set(b.pow(x, y));
}

template <typename Op> void binary(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.op<Op>({x, y}));
}

template <typename Op> void logical(Node &n, Build &b) {
  n.set(b.op<Op>({n.operand("self", b.i1), n.operand("other", b.i1)}));
}

/// clamp. Each bound may be absent, a number or a tensor. If x equals a bound, a bound that is a
/// number gets no gradient, whereas a bound that is a tensor shares the gradient with x.
void clamp(Node &n, Build &b) {
  Type element = n.resultElement();
  Value x = n.operand("self", element);
  if (n.has("min")) {
    Value low = n.operand("min", element);
    x = n.isTensor("min") ? b.max(x, low) : b.atLeast(x, low);
  }
  if (n.has("max")) {
    Value high = n.operand("max", element);
    x = n.isTensor("max") ? b.min(x, high) : b.atMost(x, high);
  }
  n.set(x);
}

/// addcmul and addcdiv: self + value * a * b, or self + value * a / b.
template <typename Op> void addScaledBinaryOp(Node &n, Build &b) {
  Type element = n.resultElement();
  Value product = b.op<Op>({n.operand("tensor1", element), n.operand("tensor2", element)});
  n.set(b.add(n.operand("self", element), b.mul(product, n.operand("value", element))));
}

void multiplyAdd(Node &n, Build &b) {
  Type element = n.resultElement();
  n.set(b.add(b.mul(n.operand("a", element), n.operand("b", element)), n.operand("c", element)));
}

void lerp(Node &n, Build &b) {
  Type element = n.resultElement();
  Value x = n.operand("self", element), y = n.operand("end", element),
        w = n.operand("weight", element), way = b.sub(y, x);
  // lerp: interpolates from the nearer end, so that a weight of 1 returns `end` exactly.
  Value near = b.compare(Predicate::lt, b.unary<AbsOp>(w), b.like(w, 0.5));
  n.set(b.select(near, b.add(x, b.mul(w, way)), b.sub(y, b.mul(way, b.sub(b.like(w, 1), w)))));
}

void hypotenuse(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  Value large = b.max(b.unary<AbsOp>(x), b.unary<AbsOp>(y)),
        small = b.min(b.unary<AbsOp>(x), b.unary<AbsOp>(y));
  Value ratio = b.div(small, large), zero = b.like(large, 0);
  Value length = b.mul(large, b.unary<SqrtOp>(b.add(b.mul(ratio, ratio), 1.0)));
  n.set(b.select(b.either(b.compare(Predicate::eq, large, zero), b.unary<IsInfOp>(large)), large,
                 length));
}

/// fmax and fmin: the maximum or minimum, where NaN is returned only if both operands are NaN.
template <typename Op> void extremeIgnoringNan(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  Value far = b.op<Op>({x, y});
  if (b.isFloat(far))
    far = b.select(b.unary<IsNanOp>(y), x, b.select(b.unary<IsNanOp>(x), y, far));
  n.set(far);
}

/// xlogy and xlog1py: x * f(y), where the result is 0 if x is 0 and y is not NaN. If f(y) is also
/// not finite, no gradient passes through f.
template <typename Function> void multiplyByLogarithm(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  Type element = n.resultElement();
  x = b.widen(x), y = b.widen(y);
  Value isZero = b.compare(Predicate::eq, x, b.like(x, 0));
  Value f = b.unary<Function>(y);
  Value isInfinite = b.either(b.unary<IsInfOp>(f), b.unary<IsNanOp>(f));
  Value masked = b.both(b.both(isZero, isInfinite), b.negate(b.unary<IsNanOp>(y)));
  Value inside = b.like(y, std::is_same_v<Function, LogOp> ? 1 : 0);
  n.set(b.cast(b.mul(x, b.unary<Function>(b.select(masked, inside, y))), element));
}

void multiplyByPowerOfTwo(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(b.mul(x, b.pow(b.like(x, 2), y)));
}

void importCopySign(Node &n, Build &b) {
  auto [x, y] = readBinaryOperands(n, b);
  n.set(buildCopySign(b, x, y));
}

const Operator table[] = {
    {"add.Tensor", add},
    {"add.Scalar", add},
    {"sub.Tensor", sub},
    {"sub.Scalar", sub},
    {"rsub.Tensor", rsub},
    {"rsub.Scalar", rsub},
    {"mul.Tensor", mul},
    {"mul.Scalar", mul},
    {"div.Tensor", divide},
    {"div.Scalar", divide},
    {"div.Tensor_mode", divide},
    {"div.Scalar_mode", divide},
    {"floor_divide.default", floorDivision},
    {"floor_divide.Scalar", floorDivision},
    {"remainder.Tensor", remainder<false>},
    {"remainder.Scalar", remainder<false>},
    {"remainder.Scalar_Tensor", remainder<false>},
    {"fmod.Tensor", remainder<true>},
    {"fmod.Scalar", remainder<true>},
    {"pow.Tensor_Tensor", power},
    {"pow.Tensor_Scalar", power},
    {"pow.Scalar", power},
    {"maximum.default", binary<MaxOp>},
    {"minimum.default", binary<MinOp>},
    {"fmax.default", extremeIgnoringNan<MaxOp>},
    {"fmin.default", extremeIgnoringNan<MinOp>},
    {"ldexp.Tensor", multiplyByPowerOfTwo},
    {"xlogy.Tensor", multiplyByLogarithm<LogOp>},
    {"xlogy.Scalar_Self", multiplyByLogarithm<LogOp>},
    {"xlogy.Scalar_Other", multiplyByLogarithm<LogOp>},
    {"special_xlog1py.default", multiplyByLogarithm<Log1pOp>},
    {"special_xlog1py.self_scalar", multiplyByLogarithm<Log1pOp>},
    {"special_xlog1py.other_scalar", multiplyByLogarithm<Log1pOp>},
    {"atan2.default", binary<Atan2Op>},
    {"bitwise_and.Tensor", binary<AndOp>},
    {"bitwise_and.Scalar", binary<AndOp>},
    {"bitwise_or.Tensor", binary<OrOp>},
    {"bitwise_or.Scalar", binary<OrOp>},
    {"bitwise_xor.Tensor", binary<XorOp>},
    {"bitwise_xor.Scalar", binary<XorOp>},
    {"bitwise_and.Scalar_Tensor", binary<AndOp>},
    {"bitwise_or.Scalar_Tensor", binary<OrOp>},
    {"bitwise_xor.Scalar_Tensor", binary<XorOp>},
    {"bitwise_left_shift.Tensor", binary<ShiftLeftOp>},
    {"bitwise_left_shift.Tensor_Scalar", binary<ShiftLeftOp>},
    {"bitwise_left_shift.Scalar_Tensor", binary<ShiftLeftOp>},
    {"bitwise_right_shift.Tensor", binary<ShiftRightOp>},
    {"bitwise_right_shift.Tensor_Scalar", binary<ShiftRightOp>},
    {"bitwise_right_shift.Scalar_Tensor", binary<ShiftRightOp>},
    {"__lshift__.Tensor", binary<ShiftLeftOp>},
    {"__lshift__.Scalar", binary<ShiftLeftOp>},
    {"__rshift__.Tensor", binary<ShiftRightOp>},
    {"__rshift__.Scalar", binary<ShiftRightOp>},
    {"logical_and.default", logical<AndOp>},
    {"logical_or.default", logical<OrOp>},
    {"logical_xor.default", logical<XorOp>},
    {"clamp.default", clamp},
    {"clamp.Tensor", clamp},
    {"clamp_min.default", clamp},
    {"clamp_min.Tensor", clamp},
    {"clamp_max.default", clamp},
    {"clamp_max.Tensor", clamp},
    {"addcmul.default", addScaledBinaryOp<MulOp>},
    {"addcdiv.default", addScaledBinaryOp<DivOp>},
    {"prims::fma.default", multiplyAdd},
    {"lerp.Scalar", lerp},
    {"lerp.Tensor", lerp},
    {"hypot.default", hypotenuse},
    {"copysign.Tensor", importCopySign},
    {"copysign.Scalar", importCopySign},
};

} // namespace

ArrayRef<Operator> elementwiseOperators() { return table; }

} // namespace dlc::aten

//===- Elementwise.cpp - one result element from one element of each operand ===//
#include "frontend/trace/State.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

namespace {
template <typename Op> Tensor unary(const char *name, const Operand &x) {
  Call call(name, {&x});
  return call.tensor(call.make<Op>(call.value(x)));
}

template <typename Op> Tensor binary(const char *name, const Operand &a, const Operand &b) {
  Call call(name, {&a, &b});
  return call.tensor(call.make<Op>({call.value(a), call.value(b)}));
}

Tensor compare(const char *name, Predicate predicate, const Operand &a, const Operand &b) {
  Call call(name, {&a, &b});
  CompareOp::Adaptor::Properties properties;
  properties.predicate = PredicateAttr::get(call.context(), predicate);
  return call.tensor(call.make<CompareOp>({call.value(a), call.value(b)}, properties));
}
} // namespace

Tensor operator+(const Operand &a, const Operand &b) { return binary<AddOp>("operator +", a, b); }
Tensor operator-(const Operand &a, const Operand &b) { return binary<SubOp>("operator -", a, b); }
Tensor operator*(const Operand &a, const Operand &b) { return binary<MulOp>("operator *", a, b); }
Tensor operator/(const Operand &a, const Operand &b) { return binary<DivOp>("operator /", a, b); }
Tensor operator%(const Operand &a, const Operand &b) { return binary<RemOp>("operator %", a, b); }
Tensor operator&(const Operand &a, const Operand &b) { return binary<AndOp>("operator &", a, b); }
Tensor operator|(const Operand &a, const Operand &b) { return binary<OrOp>("operator |", a, b); }
Tensor operator^(const Operand &a, const Operand &b) { return binary<XorOp>("operator ^", a, b); }
Tensor operator<<(const Operand &a, const Operand &b) {
  return binary<ShiftLeftOp>("operator <<", a, b);
}
Tensor operator>>(const Operand &a, const Operand &b) {
  return binary<ShiftRightOp>("operator >>", a, b);
}
Tensor operator==(const Operand &a, const Operand &b) {
  return compare("operator ==", Predicate::eq, a, b);
}
Tensor operator!=(const Operand &a, const Operand &b) {
  return compare("operator !=", Predicate::ne, a, b);
}
Tensor operator<(const Operand &a, const Operand &b) {
  return compare("operator <", Predicate::lt, a, b);
}
Tensor operator<=(const Operand &a, const Operand &b) {
  return compare("operator <=", Predicate::le, a, b);
}
Tensor operator>(const Operand &a, const Operand &b) {
  return compare("operator >", Predicate::gt, a, b);
}
Tensor operator>=(const Operand &a, const Operand &b) {
  return compare("operator >=", Predicate::ge, a, b);
}
Tensor operator-(const Operand &x) { return unary<NegOp>("operator -", x); }
Tensor logical_not(const Operand &x) { return unary<NotOp>("logical_not", x); }
Tensor operator~(const Operand &x) { return unary<NotOp>("operator ~", x); }
Tensor maximum(const Operand &a, const Operand &b) { return binary<MaxOp>("maximum", a, b); }
Tensor minimum(const Operand &a, const Operand &b) { return binary<MinOp>("minimum", a, b); }
Tensor pow(const Operand &a, const Operand &b) { return binary<PowOp>("pow", a, b); }

Tensor fmod(const Operand &a, const Operand &b) {
  Call call("fmod", {&a, &b});
  RemOp::Adaptor::Properties properties;
  properties.truncated = call.flag(true);
  return call.tensor(call.make<RemOp>({call.value(a), call.value(b)}, properties));
}

Tensor where(const Operand &condition, const Operand &a, const Operand &b) {
  Call call("where", {&condition, &a, &b});
  Value c = call.value(condition);
  if (!getElementTypeOrSelf(c.getType()).isInteger(1))
    call.fail("the condition must have element type bool; found ",
              dtypeName(dtypeOf(getElementTypeOrSelf(c.getType()))),
              "; compare it, for example x != 0");
  call.numbersLike({&a, &b});
  return call.tensor(call.make<SelectOp>({c, call.value(a), call.value(b)}));
}

Tensor clamp(const Operand &x, double low, double high) {
  Call call("clamp", {&x});
  if (!(low <= high))
    call.fail("the lower bound must not be above the upper one; found ", llvm::format("%g", low),
              " and ", llvm::format("%g", high));
  Tensor y = std::isinf(low) ? call.tensor(call.value(x)) : maximum(x, low);
  return std::isinf(high) ? y : minimum(y, high);
}

Tensor cast(const Operand &x, DType dtype) {
  Call call("cast", {&x});
  Value value = call.value(x);
  Type to = elementTypeOf(dtype, call.context());
  if (getElementTypeOrSelf(value.getType()) == to)
    return call.tensor(value);
  CastOp::Adaptor::Properties properties;
  properties.to = TypeAttr::get(to);
  return call.tensor(call.make<CastOp>(value, properties));
}

Tensor abs(const Operand &x) { return unary<AbsOp>("abs", x); }
Tensor sign(const Operand &x) { return unary<SignOp>("sign", x); }
Tensor exp(const Operand &x) { return unary<ExpOp>("exp", x); }
Tensor expm1(const Operand &x) { return unary<Expm1Op>("expm1", x); }
Tensor log(const Operand &x) { return unary<LogOp>("log", x); }
Tensor log1p(const Operand &x) { return unary<Log1pOp>("log1p", x); }
Tensor sqrt(const Operand &x) { return unary<SqrtOp>("sqrt", x); }
Tensor rsqrt(const Operand &x) { return unary<RsqrtOp>("rsqrt", x); }
Tensor sin(const Operand &x) { return unary<SinOp>("sin", x); }
Tensor cos(const Operand &x) { return unary<CosOp>("cos", x); }
Tensor tan(const Operand &x) { return unary<TanOp>("tan", x); }
Tensor asin(const Operand &x) { return unary<AsinOp>("asin", x); }
Tensor acos(const Operand &x) { return unary<AcosOp>("acos", x); }
Tensor atan(const Operand &x) { return unary<AtanOp>("atan", x); }
Tensor sinh(const Operand &x) { return unary<SinhOp>("sinh", x); }
Tensor cosh(const Operand &x) { return unary<CoshOp>("cosh", x); }
Tensor tanh(const Operand &x) { return unary<TanhOp>("tanh", x); }
Tensor asinh(const Operand &x) { return unary<AsinhOp>("asinh", x); }
Tensor acosh(const Operand &x) { return unary<AcoshOp>("acosh", x); }
Tensor atanh(const Operand &x) { return unary<AtanhOp>("atanh", x); }
Tensor erf(const Operand &x) { return unary<ErfOp>("erf", x); }
Tensor ceil(const Operand &x) { return unary<CeilOp>("ceil", x); }
Tensor floor(const Operand &x) { return unary<FloorOp>("floor", x); }
Tensor round(const Operand &x) { return unary<RoundOp>("round", x); }
Tensor is_nan(const Operand &x) { return unary<IsNanOp>("is_nan", x); }
Tensor is_inf(const Operand &x) { return unary<IsInfOp>("is_inf", x); }
Tensor relu(const Operand &x) { return unary<ReluOp>("relu", x); }
Tensor sigmoid(const Operand &x) { return unary<SigmoidOp>("sigmoid", x); }
Tensor square(const Operand &x) { return binary<MulOp>("square", x, x); }
Tensor reciprocal(const Operand &x) {
  return binary<DivOp>("reciprocal", Operand(1, x.location), x);
}

Tensor gelu(const Operand &x, bool approximate) {
  Call call("gelu", {&x});
  GeluOp::Adaptor::Properties properties;
  properties.approximate = call.flag(approximate);
  return call.tensor(call.make<GeluOp>(call.value(x), properties));
}

Tensor relu6(const Operand &x) { return clamp(x, 0, 6); }

Tensor leaky_relu(const Operand &x, double slope) {
  Call call("leaky_relu", {&x});
  return where(x >= 0, x, x * slope);
}

Tensor elu(const Operand &x, double alpha) {
  Call call("elu", {&x});
  return where(x > 0, x, expm1(minimum(x, 0)) * alpha);
}

Tensor silu(const Operand &x) {
  Call call("silu", {&x});
  return x * sigmoid(x);
}

Tensor hardsigmoid(const Operand &x) {
  Call call("hardsigmoid", {&x});
  return clamp(x + 3, 0, 6) * (1.0 / 6);
}

Tensor hardswish(const Operand &x) {
  Call call("hardswish", {&x});
  return x * hardsigmoid(x);
}

Tensor softplus(const Operand &x) {
  Call call("softplus", {&x});
  // log(1 + e^x) without overflow; both choices by one comparison, so that the slope at 0 is 1/2.
  Tensor positive = x > 0;
  return where(positive, x, 0) + log1p(exp(where(positive, -x, x)));
}

} // namespace dlc::trace

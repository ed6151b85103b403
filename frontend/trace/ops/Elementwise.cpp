//===- Elementwise.cpp - elementwise operations ---------------------------===//
#include "frontend/trace/State.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

namespace {
template <typename Op> Tensor unary(const char *name, const Operand &x) {
  ApiCall call(name, {&x});
  return call.tensor(call.make<Op>(call.value(x)));
}

template <typename Op> Tensor binary(const char *name, const Operand &a, const Operand &b) {
  ApiCall call(name, {&a, &b});
  return call.tensor(call.make<Op>({call.value(a), call.value(b)}));
}

Tensor compare(const char *name, Predicate predicate, const Operand &a, const Operand &b) {
  ApiCall call(name, {&a, &b});
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
Tensor operator~(const Operand &x) { return unary<NotOp>("operator ~", x); }

Tensor fmod(const Operand &a, const Operand &b) {
  ApiCall call("fmod", {&a, &b});
  RemOp::Adaptor::Properties properties;
  properties.truncated = call.flag(true);
  return call.tensor(call.make<RemOp>({call.value(a), call.value(b)}, properties));
}

Tensor where(const Operand &condition, const Operand &a, const Operand &b) {
  ApiCall call("where", {&condition, &a, &b});
  Value c = call.value(condition);
  if (!getElementTypeOrSelf(c.getType()).isInteger(1))
    call.fail("the condition must have element type bool; found ",
              dtypeName(dtypeOf(getElementTypeOrSelf(c.getType()))),
              "; compare it, for example x != 0");
  call.numbersLike({&a, &b});
  return call.tensor(call.make<SelectOp>({c, call.value(a), call.value(b)}));
}

/// Returns the maximum or minimum of x and a bound. If x equals the bound, x gets no gradient.
template <typename Op> static Tensor clampToBound(const Operand &x, double bound) {
  Operand limit(bound, x.location);
  ApiCall call("clamp", {&x, &limit});
  typename Op::Adaptor::Properties properties;
  properties.strict = call.flag(true);
  return call.tensor(call.make<Op>({call.value(x), call.value(limit)}, properties));
}

Tensor clamp(const Operand &x, double low, double high) {
  ApiCall call("clamp", {&x});
  if (!(low <= high))
    call.fail("the lower bound must not be above the upper one; found ", llvm::format("%g", low),
              " and ", llvm::format("%g", high));
  Tensor y = std::isinf(low) ? call.tensor(call.value(x)) : clampToBound<MaxOp>(x, low);
  return std::isinf(high) ? y : clampToBound<MinOp>(y, high);
}

Tensor cast(const Operand &x, DType dtype) {
  ApiCall call("cast", {&x});
  Value value = call.value(x);
  Type to = elementTypeOf(dtype, call.context());
  if (getElementTypeOrSelf(value.getType()) == to)
    return call.tensor(value);
  CastOp::Adaptor::Properties properties;
  properties.to = TypeAttr::get(to);
  return call.tensor(call.make<CastOp>(value, properties));
}

Tensor square(const Operand &x) { return binary<MulOp>("square", x, x); }
Tensor reciprocal(const Operand &x) {
  return binary<DivOp>("reciprocal", Operand(1, x.location), x);
}

Tensor gelu(const Operand &x, bool approximate) {
  ApiCall call("gelu", {&x});
  GeluOp::Adaptor::Properties properties;
  properties.approximate = call.flag(approximate);
  return call.tensor(call.make<GeluOp>(call.value(x), properties));
}

Tensor relu6(const Operand &x) { return clamp(x, 0, 6); }

Tensor leaky_relu(const Operand &x, double slope) {
  ApiCall call("leaky_relu", {&x});
  return where(x > 0, x, x * slope);
}

Tensor elu(const Operand &x, double alpha) {
  ApiCall call("elu", {&x});
  Tensor positive = x > 0;
  // The operand of the exponential is replaced by 0 for positive x, because a large x would
  // overflow the exponential and its gradient.
  return where(positive, x, expm1(where(positive, 0, x)) * alpha);
}

Tensor silu(const Operand &x) {
  ApiCall call("silu", {&x});
  return x * sigmoid(x);
}

Tensor hardsigmoid(const Operand &x) {
  ApiCall call("hardsigmoid", {&x});
  return clamp(x + 3, 0, 6) * (1.0 / 6);
}

Tensor hardswish(const Operand &x) {
  ApiCall call("hardswish", {&x});
  return x * hardsigmoid(x);
}

Tensor softplus(const Operand &x) {
  ApiCall call("softplus", {&x});
  // Softplus: log(1 + e^x) without overflow. Both selects use the same comparison, so that the
  // gradient at 0 is 1/2.
  Tensor positive = x > 0;
  return where(positive, x, 0) + log1p(exp(where(positive, -x, x)));
}

} // namespace dlc::trace

// Definitions of the elementwise operations whose operands are all tensors, generated from
// ElementwiseTable.inc. dlc/trace.hpp declares each of them.
namespace dlc {
#define DLC_TRACE_1(Op, name)                                                                      \
  trace::Tensor trace::name(const Operand &x) { return unary<Op>(#name, x); }
#define DLC_TRACE_2(Op, name)                                                                      \
  trace::Tensor trace::name(const Operand &a, const Operand &b) { return binary<Op>(#name, a, b); }
#define DLC_TRACE(Op, mnemonic, name, operands) DLC_TRACE_##operands(Op, name)
#include "ir/dlc/ElementwiseTable.inc"
} // namespace dlc

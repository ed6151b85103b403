//===- Function.cpp - unary elementwise functions -------------------------===//
#include "frontend/aten/Node.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace dlc::aten {
namespace {

/// Applies a unary function in the result's element type. For some functions PyTorch promotes
/// integers to floats.
template <typename Op> void unaryFunction(Node &n, Build &b) {
  n.set(b.unary<Op>(n.operand("self", n.resultElement())));
}

/// Rounding functions such as floor leave integers and bools unchanged.
template <typename Op> void roundingFunction(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.isFloat(x) ? b.unary<Op>(x) : x);
}

/// Numeric functions such as abs leave bools unchanged.
template <typename Op> void numericFunction(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.isBool(x) ? x : b.unary<Op>(x));
}

/// round with the argument `decimals`: rounds to this number of digits after the decimal point, or
/// before it if negative.
void roundToDecimals(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t digits = n.integer("decimals");
  if (!b.isFloat(x)) {
    b.require(digits == 0, "argument 'decimals': required: 0 for whole numbers");
    return n.set(x);
  }
  double tens = std::pow(10.0, double(std::abs(digits)));
  Value wide = b.widen(x);
  Value y = digits < 0 ? b.mul(b.unary<RoundOp>(b.div(wide, tens)), tens)
                       : b.div(b.unary<RoundOp>(b.mul(wide, tens)), tens);
  n.set(b.cast(y, b.elem(x)));
}

/// angle of real numbers: pi for negative numbers, and 0 for others.
void angle(Node &n, Build &b) {
  Value x = n.operand("self", n.resultElement());
  Value y = b.select(b.compare(Predicate::lt, x, b.like(x, 0)), b.like(x, std::numbers::pi),
                     b.like(x, 0));
  n.set(b.select(b.unary<IsNanOp>(x), x, y));
}

void truncate(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (b.isFloat(x))
    x = b.select(b.compare(Predicate::lt, x, b.like(x, 0)), b.unary<CeilOp>(x),
                 b.unary<FloorOp>(x));
  n.set(x);
}

void reciprocal(Node &n, Build &b) {
  Value x = n.operand("self", n.resultElement());
  n.set(b.div(b.like(x, 1), x));
}

/// log2 and log10, computed as the natural logarithm times 1 / log(base).
template <int base> void logarithm(Node &n, Build &b) {
  Value x = b.widen(n.operand("self", n.resultElement()));
  n.set(b.cast(b.mul(b.unary<LogOp>(x), 1 / std::log(double(base))), n.resultElement()));
}

void exp2(Node &n, Build &b) {
  Value x = b.widen(n.operand("self", n.resultElement()));
  n.set(b.cast(b.pow(b.like(x, 2), x), n.resultElement()));
}

/// sinc: sin(pi x) / (pi x). At 0 the value is 1 and the gradient is 0.
void sinc(Node &n, Build &b) {
  Value x = b.widen(n.operand("self", n.resultElement())), one = b.like(x, 1);
  Value isZero = b.compare(Predicate::eq, x, b.like(x, 0));
  Value angle = b.mul(b.select(isZero, one, x), std::numbers::pi);
  Value y = b.select(isZero, one, b.div(b.unary<SinOp>(angle), angle));
  n.set(b.cast(y, n.resultElement()));
}

void logicalNot(Node &n, Build &b) { n.set(b.negate(n.operand("self", b.i1))); }

void same(Node &n, Build &) { n.set(n.tensor("self")); }

void square(Node &n, Build &b) {
  Value x = n.operand("self", n.resultElement());
  n.set(b.mul(x, x));
}

void sign(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (b.isBool(x))
    return n.set(x);
  Value y = b.unary<SignOp>(x);
  // PyTorch defines the sign of NaN as 0.
  n.set(b.isFloat(x) ? b.select(b.unary<IsNanOp>(x), b.like(x, 0), y) : y);
}

void signBit(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (b.isBool(x))
    return n.set(b.splat(b.i1, b.shape(x), 0));
  Value negative = b.compare(Predicate::lt, x, b.like(x, 0));
  if (b.isFloat(x))
    negative = b.either(negative, b.compare(Predicate::lt, b.div(b.like(x, 1), x), b.like(x, 0)));
  n.set(negative);
}

const Operator table[] = {
    {"abs.default", numericFunction<AbsOp>},
    {"neg.default", numericFunction<NegOp>},
    {"sign.default", sign},
    {"signbit.default", signBit},
    {"positive.default", same},
    {"exp.default", unaryFunction<ExpOp>},
    {"exp2.default", exp2},
    {"expm1.default", unaryFunction<Expm1Op>},
    {"log.default", unaryFunction<LogOp>},
    {"log2.default", logarithm<2>},
    {"log10.default", logarithm<10>},
    {"log1p.default", unaryFunction<Log1pOp>},
    {"sqrt.default", unaryFunction<SqrtOp>},
    {"rsqrt.default", unaryFunction<RsqrtOp>},
    {"square.default", square},
    {"sin.default", unaryFunction<SinOp>},
    {"cos.default", unaryFunction<CosOp>},
    {"tan.default", unaryFunction<TanOp>},
    {"asin.default", unaryFunction<AsinOp>},
    {"acos.default", unaryFunction<AcosOp>},
    {"atan.default", unaryFunction<AtanOp>},
    {"sinh.default", unaryFunction<SinhOp>},
    {"cosh.default", unaryFunction<CoshOp>},
    {"tanh.default", unaryFunction<TanhOp>},
    {"asinh.default", unaryFunction<AsinhOp>},
    {"acosh.default", unaryFunction<AcoshOp>},
    {"atanh.default", unaryFunction<AtanhOp>},
    {"erf.default", unaryFunction<ErfOp>},
    {"erfc.default", unaryFunction<ErfcOp>},
    {"erfinv.default", unaryFunction<ErfinvOp>},
    {"sigmoid.default", unaryFunction<SigmoidOp>},
    {"reciprocal.default", reciprocal},
    {"ceil.default", roundingFunction<CeilOp>},
    {"floor.default", roundingFunction<FloorOp>},
    {"round.default", roundingFunction<RoundOp>},
    {"round.decimals", roundToDecimals},
    {"angle.default", angle},
    {"sinc.default", sinc},
    {"trunc.default", truncate},
    {"logical_not.default", logicalNot},
    {"bitwise_not.default", unaryFunction<NotOp>},
};

} // namespace

ArrayRef<Operator> functionOperators() { return table; }

} // namespace dlc::aten

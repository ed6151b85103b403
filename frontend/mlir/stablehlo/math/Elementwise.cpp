//===- Elementwise.cpp - arithmetic, comparisons, conversions -------------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/Node.h"
#include "frontend/mlir/stablehlo/dialect/Attributes.h"

#include <bit>
#include <limits>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

template <typename Op> void unary(Node &n, Build &b) { n.set(b.op<Op>({n.in(0)})); }
template <typename Op> void binary(Node &n, Build &b) { n.set(b.op<Op>({n.in(0), n.in(1)})); }
template <CombineKind kind> void binaryCombine(Node &n, Build &b) {
  n.set(buildCombine(b, kind, n.in(0), n.in(1)));
}
/// Maximum or minimum. Operands that are the identity element are skipped: JAX's softmax contains a
/// maximum with minus infinity, which has no effect.
template <CombineKind kind> void minimumOrMaximum(Node &n, Build &b) {
  Value x = n.in(0), y = n.in(1);
  if (isIdentityElement(b, kind, y))
    return n.set(x);
  n.set(isIdentityElement(b, kind, x) ? y : buildCombine(b, kind, x, y));
}
void identity(Node &n, Build &) { n.set(n.in(0)); }

//===--- Integer division -----------------------------------------------------===//

/// Returns whether x is a constant without an element 0, possibly broadcast or reshaped.
bool isNeverZero(Build &b, Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp>(op))
      break;
    x = op->getOperand(0);
  }
  auto known = b.known(x);
  if (!known)
    return false;
  for (int64_t i = 0; i < known->size(); ++i)
    if (known->getInt(i) == 0)
      return false;
  return true;
}

/// Division. An integer divided by 0 gives -1 (all bits set), as in XLA.
void divide(Node &n, Build &b) {
  Value x = n.in(0), y = n.in(1), quotient = b.div(x, y);
  if (!b.isFloat(y) && !isNeverZero(b, y)) {
    Value isZero = b.compare(Predicate::eq, y, b.scalarInt(b.elem(y), 0));
    quotient = b.select(isZero, b.scalarInt(b.elem(x), -1), quotient);
  }
  n.set(quotient);
}

/// Remainder, with the sign of the dividend. For integers, the remainder of a division by 0 is the
/// dividend, as in XLA.
void remainder(Node &n, Build &b) {
  Value x = n.in(0), y = n.in(1), rest = b.rem(x, y, /*truncated=*/true);
  if (!b.isFloat(y) && !isNeverZero(b, y))
    rest = b.select(b.compare(Predicate::eq, y, b.scalarInt(b.elem(y), 0)), x, rest);
  n.set(rest);
}

//===--- Comparisons ----------------------------------------------------------===//

Predicate toPredicate(Direction direction) {
  switch (direction) {
  case Direction::EQ:
    return Predicate::eq;
  case Direction::NE:
    return Predicate::ne;
  case Direction::GE:
    return Predicate::ge;
  case Direction::GT:
    return Predicate::gt;
  case Direction::LE:
    return Predicate::le;
  case Direction::LT:
    return Predicate::lt;
  }
  return Predicate::eq;
}

/// Maps floats to integers whose order is IEEE 754's totalOrder: -NaN < -inf < -0 < +0 < inf < NaN.
Value computeTotalOrderKeys(Build &b, const ref::Tensor &x) {
  auto keys = ref::Tensor::empty(RankedTensorType::get(x.getShape(), b.i64));
  for (int64_t i = 0; i < x.size(); ++i) {
    auto bits = std::bit_cast<int64_t>(x.getDouble(i));
    keys.setInt(i, bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits);
  }
  return b.constant(keys);
}

void compare(Node &n, Build &b) {
  Value x = n.in(0), y = n.in(1);
  auto type = n.attr<ComparisonTypeAttr>("compare_type");
  if (type && type.getValue() == ComparisonType::TOTALORDER && b.isFloat(x)) {
    auto left = b.known(x), right = b.known(y);
    if (!b.require(left && right, "compare_type TOTALORDER is supported in the comparators of "
                                  "stablehlo.sort and of constants; compare as FLOAT"))
      return;
    x = computeTotalOrderKeys(b, *left);
    y = computeTotalOrderKeys(b, *right);
  }
  if (b.isBool(x)) {
    x = b.cast(x, b.i32);
    y = b.cast(y, b.i32);
  }
  Predicate predicate = toPredicate(n.attr<DirectionAttr>("comparison_direction").getValue());
  n.set(b.compare(predicate, x, y));
}

void select(Node &n, Build &b) { n.set(b.select(n.in(0), n.in(1), n.in(2))); }

void clamp(Node &n, Build &b) { n.set(b.min(b.max(n.in(1), n.in(0)), n.in(2))); }

void isFinite(Node &n, Build &b) {
  // |x| < infinity is also false for NaN.
  Value infinity = b.like(n.in(0), std::numeric_limits<double>::infinity());
  n.set(b.compare(Predicate::lt, b.unary<AbsOp>(n.in(0)), infinity));
}

//===--- Rounding and conversion ------------------------------------------------===//

void convert(Node &n, Build &b) { n.set(b.cast(n.in(0), n.resultElement())); }

/// Rounds to nearest, ties away from zero. Not computed as floor(|x| + 0.5), which would round
/// 0.49999997 up.
void roundAwayFromZero(Node &n, Build &b) {
  Value size = b.unary<AbsOp>(n.in(0)), whole = b.unary<FloorOp>(size);
  Value isUp = b.compare(Predicate::ge, b.sub(size, whole), b.like(size, 0.5));
  Value rounded = b.select(isUp, b.add(whole, 1.0), whole);
  n.set(b.mul(b.unary<SignOp>(n.in(0)), rounded));
}

/// reduce_precision: rounds by a cast to a narrower float format and back. The format must be an
/// element type of dlc.
void reducePrecision(Node &n, Build &b) {
  const int64_t exponent = n.integer("exponent_bits"), mantissa = n.integer("mantissa_bits");
  Type type = n.resultElement();
  Type narrow = exponent == 5 && mantissa == 10   ? Type(b.b.getF16Type())
                : exponent == 8 && mantissa == 7  ? Type(b.b.getBF16Type())
                : exponent == 8 && mantissa == 23 ? b.f32
                                                  : b.f64;
  bool isKnown = !narrow.isF64() || (exponent == 11 && mantissa == 52);
  if (!b.require(isKnown, "required: the format e5m10, e8m7, e8m23 or e11m52; found: e" +
                              Twine(exponent) + "m" + Twine(mantissa)))
    return;
  bool isNarrower = narrow.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
  n.set(isNarrower ? b.cast(b.cast(n.in(0), narrow), type) : n.in(0));
}

void cubeRoot(Node &n, Build &b) {
  Value size = b.pow(b.unary<AbsOp>(n.in(0)), b.like(n.in(0), 1.0 / 3));
  n.set(b.mul(b.unary<SignOp>(n.in(0)), size));
}

void imaginary(Node &n, Build &b) { n.set(b.splat(n.resultElement(), n.resultShape(), 0)); }

const OperatorEntry table[] = {
    {"stablehlo.abs", unary<AbsOp>},
    {"stablehlo.add", binaryCombine<CombineKind::Add>},
    {"stablehlo.atan2", binary<Atan2Op>},
    {"stablehlo.cbrt", cubeRoot},
    {"stablehlo.ceil", unary<CeilOp>},
    {"stablehlo.clamp", clamp},
    {"stablehlo.compare", compare},
    {"stablehlo.convert", convert},
    {"stablehlo.cosine", unary<CosOp>},
    {"stablehlo.divide", divide},
    {"stablehlo.exponential", unary<ExpOp>},
    {"stablehlo.exponential_minus_one", unary<Expm1Op>},
    {"stablehlo.floor", unary<FloorOp>},
    {"stablehlo.imag", imaginary},
    {"stablehlo.is_finite", isFinite},
    {"stablehlo.log", unary<LogOp>},
    {"stablehlo.log_plus_one", unary<Log1pOp>},
    {"stablehlo.logistic", unary<SigmoidOp>},
    {"stablehlo.maximum", minimumOrMaximum<CombineKind::Max>},
    {"stablehlo.minimum", minimumOrMaximum<CombineKind::Min>},
    {"stablehlo.multiply", binaryCombine<CombineKind::Mul>},
    {"stablehlo.negate", unary<NegOp>},
    {"stablehlo.power", binary<PowOp>},
    {"stablehlo.real", identity},
    {"stablehlo.reduce_precision", reducePrecision},
    {"stablehlo.remainder", remainder},
    {"stablehlo.round_nearest_afz", roundAwayFromZero},
    {"stablehlo.round_nearest_even", unary<RoundOp>},
    {"stablehlo.rsqrt", unary<RsqrtOp>},
    {"stablehlo.select", select},
    {"stablehlo.sign", unary<SignOp>},
    {"stablehlo.sine", unary<SinOp>},
    {"stablehlo.sqrt", unary<SqrtOp>},
    {"stablehlo.subtract", binary<SubOp>},
    {"stablehlo.tan", unary<TanOp>},
    {"stablehlo.tanh", unary<TanhOp>},
};

} // namespace

ArrayRef<OperatorEntry> elementwiseEntries() { return table; }

} // namespace dlc::stablehlo

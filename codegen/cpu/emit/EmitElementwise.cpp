//===- EmitElementwise.cpp - emits one elementwise operation on computed elements ---===//
#include "codegen/cpu/emit/Emitter.h"
#include "codegen/cpu/math/Lookup.h"
#include "codegen/cpu/math/Math.h"
#include "passes/ConstantRewrites.h"
#include "passes/Rounding.h"
#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

Value constantLike(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, value))
                                           : TypedAttr(b.getIntegerAttr(element, int64_t(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// Returns the integer type (or vector type) with the bit width of a float type, for bitcasts.
Type getIntegerTypeLike(Type type) {
  Type element = getElementTypeOrSelf(type);
  Type integer = IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), integer);
  return integer;
}

Type withElementType(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  return element;
}

/// Prepares the rounding of f32 to bf16 (nearest even): adds half of the last place of bf16 to the
/// bits, so that the upper 16 bits of the sum are the rounded number. Uses integer instructions,
/// because not every processor has the conversion, and LLVM would call a library function instead.
Value addBf16RoundingBias(OpBuilder &b, Location loc, Value bits) {
  auto c = [&](int64_t v) { return constantLike(b, loc, bits.getType(), double(v)); };
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, c(16)), c(1));
  Value bias = arith::AddIOp::create(b, loc, odd, c(0x7fff));
  return arith::AddIOp::create(b, loc, bits, bias);
}

/// Converts f32 to bf16 and returns the 16 bits of the result as an integer.
Value truncateToBf16(OpBuilder &b, Location loc, Value x) {
  Value bits = arith::BitcastOp::create(b, loc, getIntegerTypeLike(x.getType()), x);
  Type type = bits.getType();
  auto c = [&](int64_t v) { return constantLike(b, loc, type, double(v)); };
  Value rounded = arith::ShRUIOp::create(b, loc, addBf16RoundingBias(b, loc, bits), c(16));
  Value quiet = arith::OrIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, c(16)), c(0x40));
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value half = arith::SelectOp::create(b, loc, nan, quiet, rounded);
  return arith::TruncIOp::create(b, loc, withElementType(type, b.getI16Type()), half);
}

/// Converts floats to an integer type of at most 16 bits, with saturation. The bounds of such a
/// type are exact floats, so that one instruction clamps to each bound. NaN is converted to 0.
Value convertFloatToSmallInt(OpBuilder &b, Location loc, Value x, IntegerType to, bool isSigned) {
  unsigned width = to.getWidth();
  double low = isSigned ? -std::ldexp(1.0, int(width) - 1) : 0;
  auto bound = [&](arith::CmpFPredicate keeps, double limit) {
    Value most = constantLike(b, loc, x.getType(), limit);
    x = arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, keeps, x, most), x, most);
  };
  if (isSigned) {
    Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    x = arith::SelectOp::create(b, loc, nan, constantLike(b, loc, x.getType(), 0), x);
  }
  bound(arith::CmpFPredicate::OGT, low);
  bound(arith::CmpFPredicate::OLT, low + std::ldexp(1.0, int(width)) - 1);
  Value wide = arith::FPToSIOp::create(b, loc, withElementType(x.getType(), b.getI32Type()), x);
  return arith::TruncIOp::create(
      b, loc, withElementType(x.getType(), IntegerType::get(b.getContext(), width)), wide);
}

Value convertFloatToInt(OpBuilder &b, Location loc, Value x, IntegerType to, bool isSigned) {
  if (to.getWidth() <= 16)
    return convertFloatToSmallInt(b, loc, x, to, isSigned);
  // The bounds of an integer type of 32 or 64 bits are not all representable as floats. Therefore
  // lanes that are out of range are replaced by selects after the conversion, instead of clamped
  // before it.
  unsigned width = to.getWidth();
  double low = isSigned ? -std::ldexp(1.0, width - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? width - 1 : width);
  Type result = withElementType(x.getType(), IntegerType::get(b.getContext(), width));
  Value lowV = constantLike(b, loc, x.getType(), low),
        highV = constantLike(b, loc, x.getType(), high);
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value over = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, highV);
  Value under = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, lowV);
  Value outside = arith::OrIOp::create(b, loc, nan, arith::OrIOp::create(b, loc, over, under));
  Value safe = arith::SelectOp::create(b, loc, outside, constantLike(b, loc, x.getType(), 0), x);
  // Unsigned 32-bit integers are converted through i64, because vector instructions convert only to
  // signed types.
  Value converted;
  if (!isSigned && width == 32) {
    Type wide = withElementType(x.getType(), b.getI64Type());
    converted =
        arith::TruncIOp::create(b, loc, result, arith::FPToSIOp::create(b, loc, wide, safe));
  } else if (isSigned) {
    converted = arith::FPToSIOp::create(b, loc, result, safe);
  } else {
    converted = arith::FPToUIOp::create(b, loc, result, safe);
  }
  auto integer = [&](APInt v) -> Value {
    Type e = IntegerType::get(b.getContext(), width);
    TypedAttr attr = b.getIntegerAttr(e, v);
    if (auto vector = dyn_cast<VectorType>(result))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  APInt top = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt bottom = isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  converted = arith::SelectOp::create(b, loc, over, integer(top), converted);
  return arith::SelectOp::create(b, loc, under, integer(bottom), converted);
}

arith::CmpFPredicate toCmpFPredicate(Predicate p) {
  switch (p) {
  case Predicate::eq:
    return arith::CmpFPredicate::OEQ;
  case Predicate::ne:
    return arith::CmpFPredicate::UNE;
  case Predicate::lt:
    return arith::CmpFPredicate::OLT;
  case Predicate::le:
    return arith::CmpFPredicate::OLE;
  case Predicate::gt:
    return arith::CmpFPredicate::OGT;
  case Predicate::ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("predicate");
}

arith::CmpIPredicate toCmpIPredicate(Predicate p, bool u) {
  switch (p) {
  case Predicate::eq:
    return arith::CmpIPredicate::eq;
  case Predicate::ne:
    return arith::CmpIPredicate::ne;
  case Predicate::lt:
    return u ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  case Predicate::le:
    return u ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
  case Predicate::gt:
    return u ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  case Predicate::ge:
    return u ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
  }
  llvm_unreachable("predicate");
}

} // namespace

Value convertToComputeType(OpBuilder &b, Location loc, Value stored, Type element) {
  if (element.isBF16()) {
    // Extends bf16 to f32 by integer instructions. LLVM would fold a float extension into
    // operations that it cannot legalize on bf16 vectors.
    Value wide =
        arith::ExtUIOp::create(b, loc, withElementType(stored.getType(), b.getI32Type()), stored);
    Value bits = arith::ShLIOp::create(b, loc, wide, constantLike(b, loc, wide.getType(), 16));
    return arith::BitcastOp::create(b, loc, withElementType(stored.getType(), b.getF32Type()),
                                    bits);
  }
  if (element.isF16())
    return arith::ExtFOp::create(b, loc, withElementType(stored.getType(), b.getF32Type()), stored);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored,
                                 constantLike(b, loc, stored.getType(), 0));
  return stored;
}

Value convertToStorageType(OpBuilder &b, Location loc, Value computed, Type element) {
  if (element.isBF16())
    return truncateToBf16(b, loc, computed);
  if (element.isF16())
    return arith::TruncFOp::create(b, loc, withElementType(computed.getType(), element), computed);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, withElementType(computed.getType(), b.getI8Type()),
                                  computed);
  return computed;
}

Value roundElement(OpBuilder &b, Location loc, Value x, Type element) {
  if (!element.isBF16())
    return convertToComputeType(b, loc, convertToStorageType(b, loc, x, element), element);
  Value bits = arith::BitcastOp::create(b, loc, getIntegerTypeLike(x.getType()), x);
  Value upper = constantLike(b, loc, bits.getType(), double(int32_t(0xffff0000)));
  Value rounded = arith::AndIOp::create(b, loc, addBf16RoundingBias(b, loc, bits), upper);
  rounded = arith::BitcastOp::create(b, loc, x.getType(), rounded);
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, loc, nan, x, rounded);
}

Value castElement(OpBuilder &b, Location loc, Value x, Type from, Type to) {
  Type toC = withElementType(x.getType(), getComputeType(to));
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    if (from.isInteger(1))
      return x;
    Value zero = constantLike(b, loc, x.getType(), 0);
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
  }
  if (fromFloat && toFloat) {
    unsigned a = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
    unsigned c = getElementTypeOrSelf(toC).getIntOrFloatBitWidth();
    if (a < c)
      x = arith::ExtFOp::create(b, loc, toC, x);
    else if (a > c)
      x = arith::TruncFOp::create(b, loc, toC, x);
    // A 16-bit float result is rounded immediately, because later operations must use the value
    // that would be stored to memory.
    return isSixteenBitFloat(to) ? roundElement(b, loc, x, to) : x;
  }
  if (fromFloat)
    return convertFloatToInt(b, loc, x, cast<IntegerType>(to), !isUnsigned(to));
  if (toFloat) {
    Value y = isUnsigned(from) ? Value(arith::UIToFPOp::create(b, loc, toC, x))
                               : Value(arith::SIToFPOp::create(b, loc, toC, x));
    return isSixteenBitFloat(to) ? roundElement(b, loc, y, to) : y;
  }
  unsigned a = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  unsigned c = getElementTypeOrSelf(toC).getIntOrFloatBitWidth();
  if (a == c)
    return x;
  if (a > c)
    return arith::TruncIOp::create(b, loc, toC, x);
  return isUnsigned(from) ? Value(arith::ExtUIOp::create(b, loc, toC, x))
                          : Value(arith::ExtSIOp::create(b, loc, toC, x));
}

namespace {

Value emitIntegerDivision(Emitter &e, Value x, Value y, bool u, bool remainder, bool truncated) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value zero = constantLike(b, loc, x.getType(), 0), one = constantLike(b, loc, x.getType(), 1);
  Value byZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  Value result;
  if (u) {
    Value safe = arith::SelectOp::create(b, loc, byZero, one, y);
    result = remainder ? Value(arith::RemUIOp::create(b, loc, x, safe))
                       : Value(arith::DivUIOp::create(b, loc, x, safe));
  } else {
    // A division of the lowest integer by -1 traps. Therefore a division by -1 is emitted as a
    // negation.
    Value minus = constantLike(b, loc, x.getType(), -1);
    Value byMinus = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, minus);
    Value unsafe = arith::OrIOp::create(b, loc, byZero, byMinus);
    Value safe = arith::SelectOp::create(b, loc, unsafe, one, y);
    if (remainder) {
      result = arith::RemSIOp::create(b, loc, x, safe);
      if (!truncated) {
        Value nonzero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, result, zero);
        Value differ = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             arith::XOrIOp::create(b, loc, result, safe), zero);
        Value fix = arith::AndIOp::create(b, loc, nonzero, differ);
        result = arith::SelectOp::create(b, loc, fix, arith::AddIOp::create(b, loc, result, safe),
                                         result);
      }
    } else {
      Value quotient = arith::DivSIOp::create(b, loc, x, safe);
      result = arith::SelectOp::create(b, loc, byMinus, arith::SubIOp::create(b, loc, zero, x),
                                       quotient);
    }
  }
  return arith::SelectOp::create(b, loc, byZero, zero, result);
}

Value emitFloatRemainder(Emitter &e, Value x, Value y, bool truncated) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value r = emitMath(b, loc, "fmod", {x, y}, e.context);
  if (truncated)
    return r;
  Value zero = constantLike(b, loc, x.getType(), 0);
  Value nonzero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, r, zero);
  Value rNegative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, r, zero);
  Value yNegative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, y, zero);
  Value differ = arith::XOrIOp::create(b, loc, rNegative, yNegative);
  Value fix = arith::AndIOp::create(b, loc, nonzero, differ);
  return arith::SelectOp::create(b, loc, fix, arith::AddFOp::create(b, loc, r, y), r);
}

/// Emits the power x^y of integers by repeated squaring, with one step per bit of the exponent. A
/// negative exponent gives 0 (or 1 / x for x = +-1).
Value emitIntegerPower(Emitter &e, Value x, Value y, bool u) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value one = constantLike(b, loc, x.getType(), 1), zero = constantLike(b, loc, x.getType(), 0);
  Value exponent = y;
  Value negative;
  if (!u) {
    negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y, zero);
    exponent = arith::SelectOp::create(b, loc, negative, zero, y);
  }
  int64_t width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  auto loop =
      scf::ForOp::create(b, loc, e.i64(0), e.i64(width), e.i64(1), ValueRange{one, x, exponent});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value result = loop.getRegionIterArg(0), base = loop.getRegionIterArg(1),
          rest = loop.getRegionIterArg(2);
    Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                      arith::AndIOp::create(b, loc, rest, one), zero);
    Value times = arith::MulIOp::create(b, loc, result, base);
    result = arith::SelectOp::create(b, loc, odd, times, result);
    base = arith::MulIOp::create(b, loc, base, base);
    rest = arith::ShRUIOp::create(b, loc, rest, one);
    scf::YieldOp::create(b, loc, ValueRange{result, base, rest});
  }
  Value result = loop.getResult(0);
  if (u)
    return result;
  Value minusOne = constantLike(b, loc, x.getType(), -1);
  Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, one);
  Value isMinusOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, minusOne);
  Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(b, loc, y, one), zero);
  Value alternating = arith::SelectOp::create(b, loc, odd, minusOne, one);
  Value inverse = arith::SelectOp::create(
      b, loc, isOne, one, arith::SelectOp::create(b, loc, isMinusOne, alternating, zero));
  return arith::SelectOp::create(b, loc, negative, inverse, result);
}

Value emitShift(Emitter &e, Value x, Value y, bool left, bool u) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Value limit = constantLike(b, loc, x.getType(), double(width));
  Value zero = constantLike(b, loc, x.getType(), 0);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, y, limit);
  Value safe = arith::SelectOp::create(b, loc, fits, y, zero);
  Value out = zero;
  if (!left && !u)
    out = arith::ShRSIOp::create(b, loc, x, constantLike(b, loc, x.getType(), double(width - 1)));
  Value shifted = left ? Value(arith::ShLIOp::create(b, loc, x, safe))
                  : u  ? Value(arith::ShRUIOp::create(b, loc, x, safe))
                       : Value(arith::ShRSIOp::create(b, loc, x, safe));
  return arith::SelectOp::create(b, loc, fits, shifted, out);
}

/// Elementwise operation and its evaluated operands: all scalars, or all vectors with the same
/// number of lanes.
struct ElementwiseContext {
  Emitter &e;
  OpBuilder &b;
  Location loc;
  ArrayRef<Value> values;
  Type element; ///< element type of the operation's first operand
  bool isFloat, isUnsigned;
  /// Whether the result must be exact, so that no fast approximation is allowed
  /// (requiresStrictAccuracy).
  bool exact;

  Value x() const { return values[0]; }
  Value y() const { return values[1]; }
  Value like(double value) const { return constantLike(b, loc, x().getType(), value); }
  template <typename Op, typename... Args> Value make(Args... args) const {
    return Op::create(b, loc, args...);
  }
  Value compare(arith::CmpFPredicate how, Value p, Value q) const {
    return make<arith::CmpFOp>(how, p, q);
  }
  Value compare(arith::CmpIPredicate how, Value p, Value q) const {
    return make<arith::CmpIOp>(how, p, q);
  }
  Value select(Value condition, Value p, Value q) const {
    return make<arith::SelectOp>(condition, p, q);
  }
  Value math(StringRef function) const {
    if (exact && llvm::is_contained({"exp", "sigmoid"}, function))
      return emitMath(b, loc, (function + "_with_subnormals").str(), values, e.context,
                      e.target.vectorBits >= 512);
    return emitMath(b, loc, function, values, e.context, e.target.vectorBits >= 512);
  }
};

using arith::CmpFPredicate;
using arith::CmpIPredicate;

// One overload of `emitElementwise` for each elementwise operation. If one is missing, the dispatch
// in emitElement does not compile.

#define DLC_FUNCTION(Op, mnemonic, value, operands)                                                \
  Value emitElementwise(const ElementwiseContext &s, Op) { return s.math(#mnemonic); }
#include "ir/dlc/ElementwiseTable.inc"

Value emitElementwise(const ElementwiseContext &s, GeluOp op) {
  return s.math(op.getApproximate() ? "gelu_tanh" : "gelu_erf");
}

Value emitElementwise(const ElementwiseContext &s, AbsOp) {
  if (s.isFloat)
    return s.make<math::AbsFOp>(s.x());
  if (s.isUnsigned)
    return s.x();
  Value zero = s.like(0);
  return s.select(s.compare(CmpIPredicate::slt, s.x(), zero), s.make<arith::SubIOp>(zero, s.x()),
                  s.x());
}

Value emitElementwise(const ElementwiseContext &s, NegOp) {
  return s.isFloat ? s.make<arith::NegFOp>(s.x()) : s.make<arith::SubIOp>(s.like(0), s.x());
}

Value emitElementwise(const ElementwiseContext &s, SignOp) {
  Value x = s.x(), zero = s.like(0), one = s.like(1);
  // If x is a zero or a NaN, both comparisons are false and sign(x) is x.
  if (s.isFloat)
    return s.select(s.compare(CmpFPredicate::OGT, x, zero), one,
                    s.select(s.compare(CmpFPredicate::OLT, x, zero), s.like(-1), x));
  Value positive = s.select(s.compare(CmpIPredicate::ne, x, zero), one, zero);
  return s.isUnsigned ? positive
                      : s.select(s.compare(CmpIPredicate::slt, x, zero), s.like(-1), positive);
}

Value emitElementwise(const ElementwiseContext &s, ReluOp) {
  // A NaN is returned unchanged, because its comparison with 0 is false.
  if (s.isFloat)
    return s.select(s.compare(CmpFPredicate::OLT, s.x(), s.like(0)), s.like(0), s.x());
  return s.isUnsigned ? s.x() : s.make<arith::MaxSIOp>(s.x(), s.like(0));
}

Value emitElementwise(const ElementwiseContext &s, NotOp) {
  return s.make<arith::XOrIOp>(s.x(), s.like(-1));
}
Value emitElementwise(const ElementwiseContext &s, IsNanOp) {
  return s.compare(CmpFPredicate::UNO, s.x(), s.x());
}

Value emitElementwise(const ElementwiseContext &s, IsInfOp op) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto is = [&](double v) { return s.compare(CmpFPredicate::OEQ, s.x(), s.like(v)); };
  if (op.getPositive() && op.getNegative())
    return s.make<arith::OrIOp>(is(infinity), is(-infinity));
  if (op.getPositive() || op.getNegative())
    return is(op.getPositive() ? infinity : -infinity);
  return s.compare(CmpFPredicate::AlwaysFalse, s.x(), s.x());
}

Value emitElementwise(const ElementwiseContext &s, CastOp op) {
  return castElement(s.b, s.loc, s.x(), s.element, getElementTypeOrSelf(op.getY().getType()));
}

Value emitElementwise(const ElementwiseContext &s, SelectOp) {
  return s.select(s.values[0], s.values[1], s.values[2]);
}

Value emitElementwise(const ElementwiseContext &s, CompareOp op) {
  return s.isFloat ? s.compare(toCmpFPredicate(op.getPredicate()), s.x(), s.y())
                   : s.compare(toCmpIPredicate(op.getPredicate(), s.isUnsigned), s.x(), s.y());
}

Value emitElementwise(const ElementwiseContext &s, LookupOp op) {
  return emitLookup(s.b, s.loc, s.e.target, s.x(), op.getTable());
}

template <typename OnFloats, typename OnIntegers>
Value emitArithmetic(const ElementwiseContext &s) {
  return s.isFloat ? s.make<OnFloats>(s.x(), s.y()) : s.make<OnIntegers>(s.x(), s.y());
}
Value emitElementwise(const ElementwiseContext &s, AddOp) {
  return emitArithmetic<arith::AddFOp, arith::AddIOp>(s);
}
Value emitElementwise(const ElementwiseContext &s, SubOp) {
  return emitArithmetic<arith::SubFOp, arith::SubIOp>(s);
}
Value emitElementwise(const ElementwiseContext &s, MulOp) {
  return emitArithmetic<arith::MulFOp, arith::MulIOp>(s);
}
Value emitElementwise(const ElementwiseContext &s, DivOp) {
  return s.isFloat ? s.make<arith::DivFOp>(s.x(), s.y())
                   : emitIntegerDivision(s.e, s.x(), s.y(), s.isUnsigned, false, true);
}
Value emitElementwise(const ElementwiseContext &s, RemOp op) {
  return s.isFloat ? emitFloatRemainder(s.e, s.x(), s.y(), op.getTruncated())
                   : emitIntegerDivision(s.e, s.x(), s.y(), s.isUnsigned, true, op.getTruncated());
}

/// Returns x to the power of 1/2, or of -1/2 if `isReciprocal`. The powers of -0.0 and minus
/// infinity are those of 0 and infinity, unlike a square root.
Value emitSquareRootPower(const ElementwiseContext &s, bool isReciprocal) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value root = emitMath(s.b, s.loc, "sqrt", s.x(), s.e.context);
  root = s.select(s.compare(CmpFPredicate::OEQ, s.x(), s.like(-infinity)), s.like(infinity),
                  s.make<math::AbsFOp>(root));
  return isReciprocal ? s.make<arith::DivFOp>(s.like(1), root) : root;
}

Value emitElementwise(const ElementwiseContext &s, PowOp op) {
  std::optional<double> known = s.isFloat ? splatValue(op.getB()) : std::nullopt;
  if (known && std::fabs(*known) == 0.5)
    return emitSquareRootPower(s, *known < 0);
  Type exponent = getElementTypeOrSelf(op.getB().getType());
  auto power = [&](Type type) {
    Value x = castElement(s.b, s.loc, s.x(), s.element, type);
    Value y = castElement(s.b, s.loc, s.y(), exponent, type);
    return emitMath(s.b, s.loc, "pow", {x, y}, s.e.context);
  };
  if (s.isFloat)
    return emitMath(s.b, s.loc, "pow",
                    {s.x(), castElement(s.b, s.loc, s.y(), exponent, getComputeType(s.element))},
                    s.e.context);
  if (isa<FloatType>(exponent)) {
    Type f64 = s.b.getF64Type();
    return castElement(s.b, s.loc, power(f64), f64, s.element);
  }
  return emitIntegerPower(s.e, s.x(), castElement(s.b, s.loc, s.y(), exponent, s.element),
                          s.isUnsigned);
}

/// Emits a maximum or minimum that is NaN if either operand is NaN. If one operand is a constant
/// that is neither NaN nor 0, one comparison is sufficient: a comparison with NaN is false, and the
/// other operand is then returned.
Value emitMinMax(const ElementwiseContext &s, Operation *op, CmpFPredicate first,
                 CmpFPredicate last) {
  for (int side : {0, 1})
    if (auto c = splatValue(op->getOperand(side)); c && *c != 0 && !std::isnan(*c))
      return s.select(s.compare(last, s.values[1 - side], s.values[side]), s.values[side],
                      s.values[1 - side]);
  Value nan = s.compare(CmpFPredicate::UNO, s.x(), s.x());
  return s.select(nan, s.x(), s.select(s.compare(first, s.x(), s.y()), s.x(), s.y()));
}
Value emitElementwise(const ElementwiseContext &s, MaxOp op) {
  return s.isFloat      ? emitMinMax(s, op, CmpFPredicate::OGT, CmpFPredicate::OLT)
         : s.isUnsigned ? s.make<arith::MaxUIOp>(s.x(), s.y())
                        : s.make<arith::MaxSIOp>(s.x(), s.y());
}
Value emitElementwise(const ElementwiseContext &s, MinOp op) {
  return s.isFloat      ? emitMinMax(s, op, CmpFPredicate::OLT, CmpFPredicate::OGT)
         : s.isUnsigned ? s.make<arith::MinUIOp>(s.x(), s.y())
                        : s.make<arith::MinSIOp>(s.x(), s.y());
}

Value emitElementwise(const ElementwiseContext &s, AndOp) {
  return s.make<arith::AndIOp>(s.x(), s.y());
}
Value emitElementwise(const ElementwiseContext &s, OrOp) {
  return s.make<arith::OrIOp>(s.x(), s.y());
}
Value emitElementwise(const ElementwiseContext &s, XorOp) {
  return s.make<arith::XOrIOp>(s.x(), s.y());
}
Value emitElementwise(const ElementwiseContext &s, ShiftLeftOp) {
  return emitShift(s.e, s.x(), s.y(), true, s.isUnsigned);
}
Value emitElementwise(const ElementwiseContext &s, ShiftRightOp) {
  return emitShift(s.e, s.x(), s.y(), false, s.isUnsigned);
}

} // namespace

Value emitElement(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  ElementwiseContext site{.e = e,
                          .b = e.b,
                          .loc = e.loc,
                          .values = operands,
                          .element = type,
                          .isFloat = isa<FloatType>(type),
                          .isUnsigned = isUnsigned(type),
                          .exact = requiresStrictAccuracy(op)};
  return llvm::TypeSwitch<Operation *, Value>(op)
#define DLC_ELEMENTWISE(Op, mnemonic, value, operands)                                             \
  .Case([&](Op each) { return emitElementwise(site, each); })
#include "ir/dlc/ElementwiseTable.inc"
      ;
}

Value Emitter::combine(ReduceKind kind, Type element, Value x, Value y) {
  bool isFloat = isa<FloatType>(element), u = isUnsigned(element);
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  case ReduceKind::prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y))
                   : Value(arith::MulIOp::create(b, loc, x, y));
  case ReduceKind::max:
  case ReduceKind::min: {
    bool larger = kind == ReduceKind::max;
    if (!isFloat)
      return larger ? (u ? Value(arith::MaxUIOp::create(b, loc, x, y))
                         : Value(arith::MaxSIOp::create(b, loc, x, y)))
                    : (u ? Value(arith::MinUIOp::create(b, loc, x, y))
                         : Value(arith::MinSIOp::create(b, loc, x, y)));
    // x is the accumulated value. A NaN in y is selected because the comparison is false, and a NaN
    // in x is restored by the second select. The strict comparison and its select are one
    // instruction.
    Value keep = arith::CmpFOp::create(
        b, loc, larger ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, y);
    Value best = arith::SelectOp::create(b, loc, keep, x, y);
    Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    return arith::SelectOp::create(b, loc, nan, x, best);
  }
  }
  llvm_unreachable("reduce kind");
}

Value Emitter::neutral(ReduceKind kind, Type element, int64_t lanes) {
  Type type = getScalarOrVectorType(getComputeType(element), lanes);
  if (kind == ReduceKind::sum || kind == ReduceKind::mean)
    return constantLike(b, loc, type, 0);
  if (kind == ReduceKind::prod)
    return constantLike(b, loc, type, 1);
  bool lowest = kind == ReduceKind::max;
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return constantLike(b, loc, type, lowest ? -infinity : infinity);
  }
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  bool u = isUnsigned(element);
  APInt v = lowest ? (u ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                   : (u ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), v);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

} // namespace dlc::cpu

//===- Bits.cpp - bitwise operations, shifts and reinterpreted bits --------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/Node.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

template <CombineKind kind> void bitwise(Node &n, Build &b) {
  n.set(buildCombine(b, kind, n.in(0), n.in(1)));
}

/// Returns the unsigned or signless integer type of a bit width.
Type integerType(Build &b, unsigned width, bool isUnsigned) {
  return IntegerType::get(b.context, width,
                          isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
}

unsigned widthOf(Build &b, Value x) { return b.elem(x).getIntOrFloatBitWidth(); }

void shiftLeft(Node &n, Build &b) { n.set(b.op<ShiftLeftOp>({n.in(0), n.in(1)})); }

/// shift_right_logical and shift_right_arithmetic: dlc.shift_right shifts in the sign bit for
/// signed types and zeros for unsigned types, so the operand is cast to the appropriate type.
template <bool isLogical> void shiftRight(Node &n, Build &b) {
  Type shifted = integerType(b, widthOf(b, n.in(0)), isLogical);
  Value y = b.op<ShiftRightOp>({b.cast(n.in(0), shifted), b.cast(n.in(1), shifted)});
  n.set(b.cast(y, n.resultElement()));
}

Value buildShiftRight(Build &b, Value x, int64_t count) {
  return b.op<ShiftRightOp>({x, b.scalarInt(b.elem(x), count)});
}

/// Returns an unsigned constant of x's element type in which each byte is `byte`.
Value repeatByte(Build &b, Value x, uint64_t byte) {
  return b.scalarInt(b.elem(x), int64_t(byte * 0x0101010101010101u));
}

/// Population count of unsigned integers: counts the set bits of pairs in parallel, then of groups
/// of four bits, then of bytes.
Value countBits(Build &b, Value x) {
  const unsigned width = widthOf(b, x);
  x = b.sub(x, b.both(buildShiftRight(b, x, 1), repeatByte(b, x, 0x55)));
  Value threes = repeatByte(b, x, 0x33);
  x = b.add(b.both(x, threes), b.both(buildShiftRight(b, x, 2), threes));
  x = b.both(b.add(x, buildShiftRight(b, x, 4)), repeatByte(b, x, 0x0f));
  for (unsigned shift = 8; shift < width; shift *= 2)
    x = b.add(x, buildShiftRight(b, x, shift));
  return b.both(x, b.scalarInt(b.elem(x), 0x7f));
}

void populationCount(Node &n, Build &b) {
  Value x = b.cast(n.in(0), integerType(b, widthOf(b, n.in(0)), true));
  n.set(b.cast(countBits(b, x), n.resultElement()));
}

void countLeadingZeros(Node &n, Build &b) {
  const unsigned width = widthOf(b, n.in(0));
  Value x = b.cast(n.in(0), integerType(b, width, true));
  // Sets all bits below the highest set bit, so that the number of set bits gives the number of
  // leading zeros.
  for (unsigned shift = 1; shift < width; shift *= 2)
    x = b.either(x, buildShiftRight(b, x, shift));
  Value zeros = b.sub(b.scalarInt(b.elem(x), width), countBits(b, x));
  n.set(b.cast(zeros, n.resultElement()));
}

//===--- bitcast_convert --------------------------------------------------------===//

/// Bit layout of a float type: widths of exponent and mantissa, and the exponent's bias.
struct FloatBits {
  explicit FloatBits(FloatType type)
      : width(type.getWidth()), mantissa(type.getFPMantissaWidth() - 1),
        exponent(width - mantissa - 1), bias((1 << (exponent - 1)) - 1) {}
  int64_t width, mantissa, exponent, bias;
};

/// Returns the value of an integer constant whose elements are all equal, also through broadcasts.
/// Returns nothing for other values.
std::optional<int64_t> getSplatInteger(Build &b, Value x) {
  while (auto broadcast = x.getDefiningOp<BroadcastOp>())
    x = broadcast.getX();
  auto known = b.known(x);
  if (!known || known->size() == 0)
    return std::nullopt;
  for (int64_t i = 1; i < known->size(); ++i)
    if (known->getInt(i) != known->getInt(0))
      return std::nullopt;
  return known->getInt(0);
}

/// Bit cast of `mantissa | bits of 1.0`, the pattern with which JAX makes uniform random numbers:
/// returns 1 + mantissa * 2^-bits, which is exact. Returns null if x is not this pattern.
Value buildOnePlusMantissa(Build &b, Value x, FloatType type) {
  FloatBits bits(type);
  auto merged = x.getDefiningOp<OrOp>();
  if (!merged)
    return {};
  Value mantissa = merged.getA(), one = merged.getB();
  if (getSplatInteger(b, mantissa))
    std::swap(mantissa, one);
  auto shift = mantissa.getDefiningOp<ShiftRightOp>();
  if (getSplatInteger(b, one) != bits.bias << bits.mantissa || !shift ||
      !b.elem(x).isUnsignedInteger())
    return {};
  auto count = getSplatInteger(b, shift.getB());
  if (!count || *count < bits.width - bits.mantissa)
    return {};
  Value fraction = b.mul(b.cast(mantissa, type), std::ldexp(1.0, -int(bits.mantissa)));
  return b.add(fraction, 1.0);
}

/// Bit cast: computes the float whose bits are those of an unsigned integer. A lookup table has the
/// power of two of each exponent, so that the product with the mantissa is exact.
Value buildFloatFromBits(Build &b, Value x, FloatType type) {
  FloatBits bits(type);
  std::vector<double> scales;
  for (int64_t e = 0; e < int64_t(1) << bits.exponent; ++e)
    scales.push_back(std::ldexp(1.0, int(std::max<int64_t>(e, 1) - bits.bias - bits.mantissa)));
  Type element = b.elem(x);
  auto integer = [&](int64_t value) { return b.scalarInt(element, value); };
  const int64_t highest = (int64_t(1) << bits.exponent) - 1;
  Value exponent = b.both(buildShiftRight(b, x, bits.mantissa), integer(highest));
  Value mantissa = b.both(x, integer((int64_t(1) << bits.mantissa) - 1));
  Value isSubnormal = b.compare(Predicate::eq, exponent, integer(0));
  Value digits =
      b.add(mantissa, b.select(isSubnormal, integer(0), integer(int64_t(1) << bits.mantissa)));
  Value table = b.floats(scales, {int64_t(scales.size())}, type);
  Value size = b.mul(b.cast(digits, type), b.gather(table, b.cast(exponent, b.i32), 0));
  const double infinity = std::numeric_limits<double>::infinity();
  Value isZero = b.compare(Predicate::eq, mantissa, integer(0));
  Value special = b.select(isZero, b.scalar(type, infinity),
                           b.scalar(type, std::numeric_limits<double>::quiet_NaN()));
  size = b.select(b.compare(Predicate::eq, exponent, integer(highest)), special, size);
  Value isPositive = b.compare(Predicate::eq, buildShiftRight(b, x, bits.width - 1), integer(0));
  return b.select(isPositive, size, b.unary<NegOp>(size));
}

void bitcastConvert(Node &n, Build &b) {
  Value x = n.in(0);
  Type to = n.resultElement();
  if (!b.require(widthOf(b, x) == to.getIntOrFloatBitWidth() &&
                     b.shape(x) == ArrayRef(n.resultShape()),
                 "required: an operand and a result of one width and shape; reshape before"))
    return;
  if (b.elem(x) == to || (!b.isFloat(x) && isa<IntegerType>(to)))
    return n.set(b.cast(x, to));
  if (auto known = b.known(x)) {
    auto result = ref::Tensor::empty(n.resultType());
    std::memcpy(result.mutableData(), known->data(), size_t(known->bytes()));
    return n.set(b.constant(result));
  }
  auto type = dyn_cast<FloatType>(to);
  if (!b.require(type && !b.isFloat(x), "the bits of a float that is not a constant are not "
                                        "supported; required: an integer operand"))
    return;
  Value unsignedX = b.cast(x, integerType(b, widthOf(b, x), true));
  Value uniform = buildOnePlusMantissa(b, unsignedX, type);
  n.set(uniform || !b.ok() ? uniform : buildFloatFromBits(b, unsignedX, type));
}

void logicalNot(Node &n, Build &b) { n.set(b.negate(n.in(0))); }

const OperatorEntry table[] = {
    {"stablehlo.and", bitwise<CombineKind::BitAnd>},
    {"stablehlo.bitcast_convert", bitcastConvert},
    {"stablehlo.count_leading_zeros", countLeadingZeros},
    {"stablehlo.not", logicalNot},
    {"stablehlo.or", bitwise<CombineKind::BitOr>},
    {"stablehlo.popcnt", populationCount},
    {"stablehlo.shift_left", shiftLeft},
    {"stablehlo.shift_right_arithmetic", shiftRight<false>},
    {"stablehlo.shift_right_logical", shiftRight<true>},
    {"stablehlo.xor", bitwise<CombineKind::BitXor>},
};

} // namespace

ArrayRef<OperatorEntry> bitEntries() { return table; }

} // namespace dlc::stablehlo

//===- Element.h - element types in memory and their numeric values -------===//
#ifndef DLC_IR_TENSOR_ELEMENT_H
#define DLC_IR_TENSOR_ELEMENT_H

#include "mlir/IR/Types.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace dlc::ref {

enum class Element : uint8_t {
  F16,
  BF16,
  F32,
  F64,
  Bool,
  I4,
  I8,
  I16,
  I32,
  I64,
  U4,
  U8,
  U16,
  U32,
  U64
};

/// Returns whether two elements of this type share a byte. The first element is in the low four
/// bits.
inline bool isPacked(Element e) { return e == Element::I4 || e == Element::U4; }
[[noreturn]] void failOnPacked();

/// Returns the element type of a tensor of the dlc dialect, or nullopt for any other type.
std::optional<Element> findElement(mlir::Type type);
/// Returns the element type of a tensor whose type the verifier of the dlc dialect has accepted.
Element toElement(mlir::Type type);

/// Storage type of f16; the types below store bf16 and bool.
struct Half {
  uint16_t bits = 0;
};
struct BFloat {
  uint16_t bits = 0;
};
struct Bool {
  uint8_t value = 0;
};

/// Calls `f` with a zero of the C++ storage type of an element type. The type must not be packed.
template <typename F> decltype(auto) dispatchStorageType(Element element, F f) {
  switch (element) {
  case Element::F16:
    return f(Half());
  case Element::BF16:
    return f(BFloat());
  case Element::F32:
    return f(float());
  case Element::F64:
    return f(double());
  case Element::Bool:
    return f(Bool());
  case Element::I4:
  case Element::U4:
    failOnPacked();
  case Element::I8:
    return f(int8_t());
  case Element::I16:
    return f(int16_t());
  case Element::I32:
    return f(int32_t());
  case Element::I64:
    return f(int64_t());
  case Element::U8:
    return f(uint8_t());
  case Element::U16:
    return f(uint16_t());
  case Element::U32:
    return f(uint32_t());
  case Element::U64:
    break;
  }
  return f(uint64_t());
}

inline bool isFloat(Element e) { return e <= Element::F64; }
inline bool isUnsigned(Element e) { return e >= Element::U4; }

/// Calls `f` with a zero of the C++ compute type of an element type: double, int64_t (also for
/// bool) or uint64_t.
template <typename F> decltype(auto) dispatchComputeType(Element element, F f) {
  if (isFloat(element))
    return f(double());
  if (isUnsigned(element))
    return f(uint64_t());
  return f(int64_t());
}

/// Rounds a double to a 16-bit float format, ties to even. Values that are too large become
/// infinite.
template <int exponentBits, int fractionBits> uint16_t encodeFloat16(double value) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint16_t infinity = ((1 << exponentBits) - 1) << fractionBits;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = uint16_t(bits >> 63) << 15;
  if (std::isnan(value))
    return sign | infinity | uint16_t(1 << (fractionBits - 1));
  if (std::isinf(value))
    return sign | infinity;
  const int exponent = int(bits >> 52 & 0x7ff) - 1023;
  // Subnormal doubles round to zero: they are far below half of the smallest 16-bit float.
  if (exponent < -1022)
    return sign;
  const uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  // A subnormal result has the fixed unit of the smallest exponent, so more fraction bits are
  // dropped.
  const bool subnormal = exponent < 1 - bias;
  const int dropped = 52 - fractionBits + (subnormal ? 1 - bias - exponent : 0);
  if (dropped > 54)
    return sign;
  const uint64_t half = uint64_t(1) << (dropped - 1);
  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((half << 1) - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // A carry out of the fraction increments the exponent, which is the correct rounding. The sum
  // includes the implicit leading bit.
  const uint64_t result = subnormal ? kept : kept + (uint64_t(exponent + bias - 1) << fractionBits);
  return sign | (result >= infinity ? infinity : uint16_t(result));
}

template <int exponentBits, int fractionBits> double decodeFloat16(uint16_t bits) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  const uint64_t sign = uint64_t(bits >> 15) << 63;
  const uint64_t fraction = bits & ((1 << fractionBits) - 1);
  const int exponent = bits >> fractionBits & ((1 << exponentBits) - 1);
  if (exponent == (1 << exponentBits) - 1)
    return std::bit_cast<double>(sign | uint64_t(0x7ff) << 52 | fraction << (52 - fractionBits));
  if (exponent == 0) {
    const double magnitude = std::ldexp(double(fraction), 1 - bias - fractionBits);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(sign | uint64_t(exponent - bias + 1023) << 52 |
                               fraction << (52 - fractionBits));
}

/// Converts an integer to a double such that rounding the double to any smaller float type equals
/// rounding the integer. If bits are lost, the last bit is set ("round to odd"), so that the second
/// rounding has no false tie.
inline double convertRoundToOdd(uint64_t value) {
  const int extra = 11 - std::countl_zero(value);
  if (value == 0 || extra <= 0)
    return double(value);
  const uint64_t rest = value & ((uint64_t(1) << extra) - 1);
  const uint64_t kept = value >> extra | (rest != 0);
  return std::ldexp(double(kept), extra);
}

/// Converts between compute types and storage types by the rules of dlc.cast: floats round to
/// nearest even, float to integer truncates and saturates (NaN becomes 0), integers wrap, bool is
/// `x != 0`.
template <typename To, typename From> To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(decodeFloat16<5, 10>(value.bits));
  } else if constexpr (std::is_same_v<From, BFloat>) {
    return convert<To>(decodeFloat16<8, 7>(value.bits));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(int64_t(value.value != 0));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{uint8_t(value != 0)};
  } else if constexpr (std::is_floating_point_v<From>) {
    if constexpr (std::is_same_v<To, Half>) {
      return Half{encodeFloat16<5, 10>(value)};
    } else if constexpr (std::is_same_v<To, BFloat>) {
      return BFloat{encodeFloat16<8, 7>(value)};
    } else if constexpr (std::is_floating_point_v<To>) {
      return To(value);
    } else {
      using Limits = std::numeric_limits<To>;
      if (std::isnan(value))
        return 0;
      // The upper bound 2^digits is exact as a double, but max() may not be.
      if (value >= std::ldexp(1.0, Limits::digits))
        return Limits::max();
      if (value <= double(Limits::min()))
        return Limits::min();
      return To(value);
    }
  } else if constexpr (std::is_integral_v<To>) {
    return To(value);
  } else if constexpr (std::is_floating_point_v<To>) {
    return To(value);
  } else {
    if constexpr (std::is_signed_v<From>)
      if (value < 0)
        return convert<To>(-convertRoundToOdd(-uint64_t(value)));
    return convert<To>(convertRoundToOdd(uint64_t(value)));
  }
}

} // namespace dlc::ref

#endif // DLC_IR_TENSOR_ELEMENT_H

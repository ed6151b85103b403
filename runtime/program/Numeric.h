//===- Numeric.h - element types as C++ types, with arithmetic ---------------===//
#ifndef DLC_RUNTIME_PROGRAM_NUMERIC_H
#define DLC_RUNTIME_PROGRAM_NUMERIC_H

#include "dlc/DType.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace dlc::runtime {

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

struct BFloat16 {
  uint16_t bits;
  operator float() const { return bitsToFloat(uint32_t(bits) << 16); }
  static BFloat16 from(float value) {
    uint32_t word = floatToBits(value);
    if (value != value)
      return {static_cast<uint16_t>(word >> 16 | 0x40)};
    return {static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16)};
  }
};

struct Float16 {
  uint16_t bits;
  operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
             mantissa = bits & 1023;
    if (exponent == 31)
      return bitsToFloat(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0)
      return (sign ? -1.0f : 1.0f) * static_cast<float>(mantissa) * 0x1p-24f;
    return bitsToFloat(sign | (exponent + 112) << 23 | mantissa << 13);
  }
  static Float16 from(float value) {
    uint32_t word = floatToBits(value), sign = word >> 16 & 0x8000;
    uint32_t magnitude = word & 0x7fffffff;
    if (magnitude > 0x7f800000)
      return {static_cast<uint16_t>(sign | 0x7e00)};
    if (magnitude >= 0x477ff000) // the value rounds to infinity
      return {static_cast<uint16_t>(sign | 0x7c00)};
    if (magnitude < 0x38800000) { // subnormal: the addition rounds to a multiple of 2^-24
      float aligned = bitsToFloat(magnitude) + 0.5f;
      return {static_cast<uint16_t>(sign | (floatToBits(aligned) - floatToBits(0.5f)))};
    }
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return {static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13))};
  }
};

/// A byte that is 0 or 1.
struct Boolean {
  uint8_t byte;
  operator int() const { return byte != 0; }
};

template <typename T>
inline constexpr bool isHalf = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

/// Type in which values of T are computed and compared.
template <typename T>
using Compute =
    std::conditional_t<isHalf<T>, float, std::conditional_t<std::is_same_v<T, Boolean>, int, T>>;

template <typename T> Compute<T> load(T value) { return static_cast<Compute<T>>(value); }

template <typename T> T store(Compute<T> value) {
  if constexpr (isHalf<T>)
    return T::from(value);
  else if constexpr (std::is_same_v<T, Boolean>)
    return Boolean{static_cast<uint8_t>(value != 0)};
  else
    return value;
}

template <typename T> bool isNan(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value != value;
  else
    return false;
}

/// Returns the lowest value of a compute type: -infinity for floating point.
template <typename T> T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Returns a < b in NumPy's sort order: NaN is greater than all other values.
template <typename T> bool lessThan(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return isNan(b) ? !isNan(a) : a < b;
  else
    return a < b;
}

/// wrappingAdd() and wrappingMul() add and multiply. Integers wrap around; for booleans they are
/// logical or and logical and.
template <typename T> Compute<T> wrappingAdd(Compute<T> a, Compute<T> b) {
  if constexpr (std::is_same_v<T, Boolean>)
    return a | b;
  else if constexpr (std::is_integral_v<Compute<T>>)
    return static_cast<Compute<T>>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> Compute<T> wrappingMul(Compute<T> a, Compute<T> b) {
  if constexpr (std::is_same_v<T, Boolean>)
    return a & b;
  else if constexpr (std::is_integral_v<Compute<T>>)
    return static_cast<Compute<T>>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <typename T> struct Type { using type = T; };

/// Calls fn(Type<T>{}) with the C++ type of `type` and returns its result.
template <typename Fn> auto dispatch(DType type, Fn &&fn) {
  switch (type) {
  case DType::F32:
    return fn(Type<float>{});
  case DType::F16:
    return fn(Type<Float16>{});
  case DType::BF16:
    return fn(Type<BFloat16>{});
  case DType::F64:
    return fn(Type<double>{});
  case DType::I8:
    return fn(Type<int8_t>{});
  case DType::U8:
    return fn(Type<uint8_t>{});
  case DType::I16:
    return fn(Type<int16_t>{});
  case DType::U16:
    return fn(Type<uint16_t>{});
  case DType::I32:
    return fn(Type<int32_t>{});
  case DType::U32:
    return fn(Type<uint32_t>{});
  case DType::I64:
    return fn(Type<int64_t>{});
  case DType::U64:
    return fn(Type<uint64_t>{});
  // Programs have no operations that compute on packed 4-bit types.
  case DType::I4:
  case DType::U4:
  case DType::Bool:
    break;
  }
  return fn(Type<Boolean>{});
}

inline bool isFloating(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16 || type == DType::F64;
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_NUMERIC_H

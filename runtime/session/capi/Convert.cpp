//===- Convert.cpp - conversion between element types ------------------------===//
#include "runtime/session/capi/Convert.h"

#include "runtime/program/Numeric.h"
#include "runtime/program/Packed.h"

#include <algorithm>

namespace dlc::runtime {

namespace {

template <typename T> struct Type { using Element = T; };
struct Boolean {
  uint8_t byte;
};
/// A 4-bit integer, unpacked into 8 bits.
template <typename Wide> struct FourBits { Wide value; };
template <typename T> constexpr bool isFourBits = false;
template <typename Wide> constexpr bool isFourBits<FourBits<Wide>> = true;

template <typename Body> void dispatchType(DType type, const Body &body) {
  switch (type) {
  case DType::F32:
    return body(Type<float>());
  case DType::F16:
    return body(Type<Float16>());
  case DType::BF16:
    return body(Type<BFloat16>());
  case DType::F64:
    return body(Type<double>());
  case DType::I8:
    return body(Type<int8_t>());
  case DType::U8:
    return body(Type<uint8_t>());
  case DType::I16:
    return body(Type<int16_t>());
  case DType::U16:
    return body(Type<uint16_t>());
  case DType::I32:
    return body(Type<int32_t>());
  case DType::U32:
    return body(Type<uint32_t>());
  case DType::I64:
    return body(Type<int64_t>());
  case DType::U64:
    return body(Type<uint64_t>());
  case DType::Bool:
    return body(Type<Boolean>());
  case DType::I4:
    return body(Type<FourBits<int8_t>>());
  case DType::U4:
    return body(Type<FourBits<uint8_t>>());
  }
}

/// Converts a value to a 4-bit integer. Floating-point values saturate; integers keep their low 4
/// bits.
template <typename Wide, typename From> FourBits<Wide> toFourBits(From value) {
  constexpr int low = std::is_signed_v<Wide> ? -8 : 0;
  if constexpr (std::is_floating_point_v<From>)
    return {value == value ? static_cast<Wide>(std::clamp<From>(value, low, low + 15)) : Wide(0)};
  else
    return {static_cast<Wide>(((static_cast<int>(value & 15) - low) & 15) + low)};
}

template <typename To> To toInteger(double value) {
  if (!(value == value))
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (value >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <typename To, typename From> To convertValue(From value) {
  if constexpr (std::is_same_v<From, Boolean>)
    return convertValue<To>(static_cast<uint8_t>(value.byte != 0));
  else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>)
    return convertValue<To>(static_cast<float>(value));
  else if constexpr (isFourBits<From>)
    return convertValue<To>(value.value);
  else if constexpr (isFourBits<To>)
    return toFourBits<decltype(To::value)>(value);
  else if constexpr (std::is_same_v<To, Boolean>)
    return {static_cast<uint8_t>(value != 0)};
  else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>)
    return To::from(static_cast<float>(value));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return toInteger<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

} // namespace

void convertElements(void *to, DType toType, const void *from, DType fromType,
                     const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<uint64_t>(size);
  std::vector<uint8_t> taken, made;
  if (isPacked(fromType)) {
    taken.resize(count);
    unpack(fromType, shape, from, taken.data());
    from = taken.data();
  }
  void *values = to;
  if (isPacked(toType)) {
    made.resize(count);
    values = made.data();
  }
  dispatchType(toType, [&](auto target) {
    dispatchType(fromType, [&](auto source) {
      using To = typename decltype(target)::Element;
      using From = typename decltype(source)::Element;
      auto *out = static_cast<To *>(values);
      auto *in = static_cast<const From *>(from);
      for (uint64_t i = 0; i < count; ++i)
        out[i] = convertValue<To>(in[i]);
    });
  });
  if (isPacked(toType))
    pack(shape, values, to);
}

} // namespace dlc::runtime

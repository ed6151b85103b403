//===- Array.cpp - arrays in host memory ----------------------------------===//
#include "dlc/trace_tensor.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace dlc::trace {

namespace {
/// Encodes a value as a 16-bit float with the given number of fraction bits, rounded to nearest
/// even.
uint16_t encodeFloat16Bits(double value, int fractionBits) {
  int exponentBits = 15 - fractionBits, bias = (1 << (exponentBits - 1)) - 1;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = uint16_t(((1 << exponentBits) - 1) << fractionBits);
  if (std::isnan(value))
    return uint16_t(sign | infinity | (1 << (fractionBits - 1)));
  value = std::abs(value);
  if (std::isinf(value))
    return sign | infinity;
  int exponent = 0;
  std::frexp(value, &exponent);
  // Binary exponent of the last fraction bit. All subnormal numbers have the same.
  int last = std::max(exponent - 1, 1 - bias) - fractionBits;
  double units = std::nearbyint(std::ldexp(value, -last));
  // If rounding carries out of the fraction bits, the addition increments the exponent, as
  // required.
  double packed = units + std::ldexp(double(last + fractionBits + bias - 1), fractionBits);
  return packed >= infinity ? uint16_t(sign | infinity) : uint16_t(sign | uint16_t(packed));
}

double decodeFloat16Bits(uint16_t bits, int fractionBits) {
  int exponentBits = 15 - fractionBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits & 0x7fff) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  double value;
  if (exponent == (1 << exponentBits) - 1)
    value = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(double(fraction), 1 - bias - fractionBits);
  else
    value = std::ldexp(double(fraction + (1 << fractionBits)), exponent - bias - fractionBits);
  return bits & 0x8000 ? -value : value;
}

template <typename T> double load(const void *data, int64_t index) {
  return static_cast<double>(static_cast<const T *>(data)[index]);
}

double loadElement(DType dtype, const void *data, int64_t i) {
  switch (dtype) {
  case DType::F32:
    return load<float>(data, i);
  case DType::F64:
    return load<double>(data, i);
  case DType::F16:
    return decodeFloat16Bits(static_cast<const uint16_t *>(data)[i], 10);
  case DType::BF16:
    return std::bit_cast<float>(uint32_t(static_cast<const uint16_t *>(data)[i]) << 16);
  case DType::I8:
    return load<int8_t>(data, i);
  case DType::U8:
  case DType::Bool:
    return load<uint8_t>(data, i);
  case DType::I16:
    return load<int16_t>(data, i);
  case DType::U16:
    return load<uint16_t>(data, i);
  case DType::I32:
    return load<int32_t>(data, i);
  case DType::U32:
    return load<uint32_t>(data, i);
  case DType::I64:
    return load<int64_t>(data, i);
  case DType::U64:
    return load<uint64_t>(data, i);
  case DType::I4:
  case DType::U4:
    break;
  }
  throw Error("elements of " + std::string(dtypeName(dtype)) +
              " cannot be read one by one; use an array of 8-bit integers, and cast it");
}

template <typename T> void store(void *data, int64_t index, double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value))
      value = 0;
    // The bounds are compared before the conversion to integer, because a conversion out of range
    // is undefined. The maximum 64-bit integers are not representable as double.
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double beyond = 2 * static_cast<double>(T(1) << (std::numeric_limits<T>::digits - 1));
    value = std::trunc(value);
    static_cast<T *>(data)[index] = value < low       ? std::numeric_limits<T>::min()
                                    : value >= beyond ? std::numeric_limits<T>::max()
                                                      : static_cast<T>(value);
  } else {
    static_cast<T *>(data)[index] = static_cast<T>(value);
  }
}

void storeElement(DType dtype, void *data, int64_t i, double value) {
  switch (dtype) {
  case DType::F32:
    return store<float>(data, i, value);
  case DType::F64:
    return store<double>(data, i, value);
  case DType::F16:
    static_cast<uint16_t *>(data)[i] = encodeFloat16Bits(value, 10);
    return;
  case DType::BF16:
    static_cast<uint16_t *>(data)[i] = encodeFloat16Bits(value, 7);
    return;
  case DType::I8:
    return store<int8_t>(data, i, value);
  case DType::U8:
    return store<uint8_t>(data, i, value);
  case DType::Bool:
    static_cast<uint8_t *>(data)[i] = value != 0;
    return;
  case DType::I16:
    return store<int16_t>(data, i, value);
  case DType::U16:
    return store<uint16_t>(data, i, value);
  case DType::I32:
    return store<int32_t>(data, i, value);
  case DType::U32:
    return store<uint32_t>(data, i, value);
  case DType::I64:
    return store<int64_t>(data, i, value);
  case DType::U64:
    return store<uint64_t>(data, i, value);
  case DType::I4:
  case DType::U4:
    break;
  }
  throw Error("elements of " + std::string(dtypeName(dtype)) +
              " cannot be written one by one; use an array of 8-bit integers, and cast it");
}
} // namespace

int64_t Array::size() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

Array Array::zeros(DType dtype, Shape shape, void **elements) {
  Array array{dtype, std::move(shape), nullptr};
  // calloc returns large blocks of zeros without touching their pages.
  void *memory = std::calloc(std::max<size_t>(array.bytes(), 1) + 64, 1);
  if (!memory)
    throw Error("out of memory for an array of " + std::to_string(array.bytes()) + " bytes");
  void *aligned = memory;
  size_t space = array.bytes() + 64;
  std::align(64, array.bytes(), aligned, space);
  array.data = std::shared_ptr<const void>(aligned, [memory](const void *) { std::free(memory); });
  if (elements)
    *elements = aligned;
  return array;
}

template <typename T>
static Array makeArrayFrom(DType dtype, Shape shape, const std::vector<T> &values) {
  void *elements;
  Array array = Array::zeros(dtype, std::move(shape), &elements);
  if (array.size() != static_cast<int64_t>(values.size()))
    throw Error(
        "the number of values must match the shape of the array: " + std::to_string(array.size()) +
        " elements required, " + std::to_string(values.size()) + " found");
  if (!values.empty())
    std::memcpy(elements, values.data(), array.bytes());
  return array;
}

Array Array::of(Shape shape, const std::vector<float> &values) {
  return makeArrayFrom(DType::F32, std::move(shape), values);
}
Array Array::ints(Shape shape, const std::vector<int64_t> &values) {
  return makeArrayFrom(DType::I64, std::move(shape), values);
}

double Array::at(int64_t index) const { return loadElement(dtype, data.get(), index); }

Array Array::to(DType other) const {
  if (other == dtype)
    return *this;
  void *elements;
  Array result = zeros(other, shape, &elements);
  for (int64_t i = 0, n = size(); i < n; ++i)
    storeElement(other, elements, i, loadElement(dtype, data.get(), i));
  return result;
}

} // namespace dlc::trace

//===- Combine.cpp - element-wise reductions ---------------------------------===//
#include "runtime/collective/Combine.h"

#include "runtime/program/Message.h"
#include "runtime/program/Numeric.h"

#include <algorithm>

namespace dlc::runtime {

namespace {

template <typename Body> void dispatchElementType(DType type, Body body) {
  switch (type) {
  case DType::F32:
    return body(float{});
  case DType::F16:
    return body(Float16{});
  case DType::BF16:
    return body(BFloat16{});
  case DType::F64:
    return body(double{});
  case DType::I8:
    return body(int8_t{});
  case DType::U8:
    return body(uint8_t{});
  case DType::I16:
    return body(int16_t{});
  case DType::U16:
    return body(uint16_t{});
  case DType::I32:
    return body(int32_t{});
  case DType::U32:
    return body(uint32_t{});
  case DType::I64:
    return body(int64_t{});
  case DType::U64:
    return body(uint64_t{});
  case DType::Bool:
    return body(Boolean{});
  case DType::I4:
  case DType::U4:
    fail("collective: ", dtypeName(type), " elements cannot be reduced");
  }
}

/// Adds two values. Integers are added as unsigned values, so that they wrap around: signed
/// overflow would be undefined.
template <typename T> Compute<T> sum(Compute<T> a, Compute<T> b) {
  if constexpr (std::is_same_v<T, Boolean>)
    return a | b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename T> Compute<T> maxPropagatingNan(Compute<T> a, Compute<T> b) {
  // `a != a` is true for NaN, which is thus propagated.
  return a > b || a != a ? a : b;
}

} // namespace

void combine(Reduction how, DType type, void *into, const void *from, uint64_t count) {
  dispatchElementType(type, [&](auto element) {
    using T = decltype(element);
    auto *to = static_cast<T *>(into);
    const auto *other = static_cast<const T *>(from);
    if (how == Reduction::Sum)
      for (uint64_t i = 0; i < count; ++i)
        to[i] = store<T>(sum<T>(load(to[i]), load(other[i])));
    else
      for (uint64_t i = 0; i < count; ++i)
        to[i] = store<T>(maxPropagatingNan<T>(load(to[i]), load(other[i])));
  });
}

void sumInOrder(DType type, void *to, const void *parts, uint64_t partCount, uint64_t count) {
  dispatchElementType(type, [&](auto element) {
    using T = decltype(element);
    const auto *from = static_cast<const T *>(parts);
    // Compute the sums of a block in a buffer before writing it, so that `to` may be one of the
    // parts.
    constexpr uint64_t kBlock = 1024;
    Compute<T> sums[kBlock];
    for (uint64_t done = 0; done < count; done += kBlock) {
      uint64_t now = std::min(kBlock, count - done);
      for (uint64_t i = 0; i < now; ++i)
        sums[i] = load(from[done + i]);
      for (uint64_t part = 1; part < partCount; ++part)
        for (uint64_t i = 0; i < now; ++i)
          sums[i] = sum<T>(sums[i], load(from[part * count + done + i]));
      for (uint64_t i = 0; i < now; ++i)
        static_cast<T *>(to)[done + i] = store<T>(sums[i]);
    }
  });
}

} // namespace dlc::runtime

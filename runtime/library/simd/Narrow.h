//===- Narrow.h - conversions between bf16 and vectors of f32 -------------===//
//
// For inclusion by the files that are compiled for one architecture. A bf16
// value is the upper 16 bits of an f32.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_NARROW_H
#define DLC_RUNTIME_LIBRARY_SIMD_NARROW_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

template <int V> DLC_INLINE Vec<V> load(const uint16_t *from) { return widen<V>(from); }

/// Loads the first `count` bf16 elements as f32; the other vector lanes are 0.
template <int V> DLC_INLINE Vec<V> loadFirst(const uint16_t *from, int64_t count) {
  return widenFirst<V>(from, count);
}

DLC_INLINE float toFloat(const float *from) { return *from; }
DLC_INLINE float toFloat(const uint16_t *from) {
  const uint32_t bits = uint32_t(*from) << 16;
  float number;
  __builtin_memcpy(&number, &bits, sizeof number);
  return number;
}

template <int V> struct BitsOf {
  typedef uint32_t Whole __attribute__((vector_size(V * 4)));
  typedef uint16_t Half __attribute__((vector_size(V * 2)));
  typedef uint16_t Loose __attribute__((vector_size(V * 2), aligned(2), may_alias));
};

/// Rounds f32 to bf16, to the nearest with ties to even. NaN stays NaN.
template <int V> DLC_INLINE typename BitsOf<V>::Half roundToBf16(Vec<V> v) {
  using Whole = typename BitsOf<V>::Whole;
  const Whole bits = Whole(v), upper = bits >> 16, isNan = Whole(v != v);
  const Whole rounded = (bits + (upper & 1) + 0x7fff) >> 16;
  return __builtin_convertvector((rounded & ~isNan) | ((upper | 0x40) & isNan),
                                 typename BitsOf<V>::Half);
}

template <int V> void narrow(const float *from, int64_t count, uint16_t *to) {
  int64_t i = 0;
  for (; i + V <= count; i += V)
    *reinterpret_cast<typename BitsOf<V>::Loose *>(to + i) = roundToBf16<V>(load<V>(from + i));
  if (i == count)
    return;
  const auto rest = roundToBf16<V>(loadFirst<V>(from + i, count - i));
  __builtin_memcpy(to + i, &rest, size_t(count - i) * sizeof(uint16_t));
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_NARROW_H

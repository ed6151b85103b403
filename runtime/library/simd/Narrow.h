//===- Narrow.h - conversions between bf16 and vectors of f32 -------------===//
//
// For inclusion by the files that are compiled for one instruction set (AVX-512 or AVX2). A bf16
// value is the upper 16 bits of an f32.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_NARROW_H
#define DLC_RUNTIME_LIBRARY_SIMD_NARROW_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

template <int V> DLC_INLINE Vec<V> load(const uint16_t *from) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))), 16)));
  else
#endif
    return Vec<V>(_mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))), 16)));
}

/// Loads the first `count` bf16 elements as f32; the other vector lanes are 0.
template <int V> DLC_INLINE Vec<V> loadFirst(const uint16_t *from, int64_t count) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(makeLaneMask(count), from)), 16)));
  else
#endif
  {
    alignas(32) uint16_t some[V] = {};
    for (int64_t i = 0; i < V && i < count; ++i)
      some[i] = from[i];
    return load<V>(some);
  }
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

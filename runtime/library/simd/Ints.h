//===- Ints.h - vectors of 8 or 16 integers and their bytes ---------------===//
//
// For inclusion by the files that are compiled for one instruction set (AVX-512 or AVX2).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_INTS_H
#define DLC_RUNTIME_LIBRARY_SIMD_INTS_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

template <int V> DLC_INLINE Ints<V> splatInt(int32_t x) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Ints<V>(_mm512_set1_epi32(x));
  else
#endif
    return Ints<V>(_mm256_set1_epi32(x));
}

template <int V> DLC_INLINE Ints<V> loadInts(const uint8_t *from) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Ints<V>(_mm512_loadu_si512(from));
  else
#endif
    return Ints<V>(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}

/// Broadcasts four bytes to every 32-bit lane.
template <int V> DLC_INLINE Ints<V> splatFourBytes(const int8_t *from) {
  int32_t four;
  __builtin_memcpy(&four, from, sizeof four);
  return splatInt<V>(four);
}

template <int V> DLC_INLINE Vec<V> toFloats(Ints<V> x) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_cvtepi32_ps(__m512i(x)));
  else
#endif
    return Vec<V>(_mm256_cvtepi32_ps(__m256i(x)));
}

/// Converts f32 vector lanes to integers, rounded to the nearest.
template <int V> DLC_INLINE Ints<V> toInts(Vec<V> x) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Ints<V>(_mm512_cvtps_epi32(__m512(x)));
  else
#endif
    return Ints<V>(_mm256_cvtps_epi32(__m256(x)));
}

template <int V> DLC_INLINE Ints<V> bytesToInts(const uint8_t *from) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Ints<V>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
  else
#endif
    return Ints<V>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from))));
}

/// Stores the lowest byte of each 32-bit lane.
template <int V> DLC_INLINE void storeBytes(void *to, Ints<V> x) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    _mm_storeu_si128(static_cast<__m128i *>(to), _mm512_cvtepi32_epi8(__m512i(x)));
  else
#endif
  {
    const __m256i last = _mm256_and_si256(__m256i(x), _mm256_set1_epi32(0xff));
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(last), _mm256_extracti128_si256(last, 1));
    _mm_storel_epi64(static_cast<__m128i *>(to), _mm_packus_epi16(words, words));
  }
}

template <int V> DLC_INLINE int32_t sumLanes(Ints<V> x) {
  int32_t sum = 0;
  for (int i = 0; i < V; ++i)
    sum += x[i];
  return sum;
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_INTS_H

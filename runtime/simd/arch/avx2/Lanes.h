//===- Lanes.h - vectors of 8 lanes on AVX2 and FMA -----------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_AVX2_LANES_H
#define DLC_RUNTIME_SIMD_ARCH_AVX2_LANES_H

#include "runtime/simd/arch/scalar/Portable.h"

#include <immintrin.h>

namespace dlc::simd {
namespace {

/// Mask of the lanes that a masked access reads or writes: their sign bits are set.
using Mask = __m256i;
DLC_INLINE Mask makeLaneMask(int64_t count) {
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), places);
}

template <int V> DLC_INLINE Vec<V> splat(float x) { return Vec<V>(_mm256_set1_ps(x)); }

/// Loads V elements with a stride of `stride` elements.
template <int V, int stride> DLC_INLINE Vec<V> gather(const float *from) {
  const __m256i at =
      _mm256_mullo_epi32(_mm256_set1_epi32(stride), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return Vec<V>(_mm256_i32gather_ps(from, at, 4));
}

template <int V> DLC_INLINE Vec<V> loadMasked(const float *from, Mask mask) {
  return Vec<V>(_mm256_maskload_ps(from, mask));
}
template <int V> DLC_INLINE void storeMasked(float *to, Mask mask, Vec<V> v) {
  _mm256_maskstore_ps(to, mask, __m256(v));
}

template <int V> DLC_INLINE void storeNonTemporal(float *to, Vec<V> v) {
  _mm256_stream_ps(to, __m256(v));
}
DLC_INLINE void fenceNonTemporal() { _mm_sfence(); }

/// Compiler barrier: later loads remain after the computation of v, which stays in a register.
template <int V> DLC_INLINE void keepInRegister(Vec<V> &v) {
  asm volatile("" : "+v"(v) : : "memory");
}

/// Rounds to the nearest integer, ties to even.
template <int V> DLC_INLINE Vec<V> roundToEven(Vec<V> x) {
  return Vec<V>(_mm256_round_ps(__m256(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/// Returns a * b + c, rounded once. The compiler does not choose another contraction.
template <int V> DLC_INLINE Vec<V> multiplyAdd(Vec<V> a, Vec<V> b, Vec<V> c) {
  return Vec<V>(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
}

template <int V> DLC_INLINE Vec<V> squareRoot(Vec<V> x) {
  return Vec<V>(_mm256_sqrt_ps(__m256(x)));
}

/// Returns the larger of a and b in each lane, and b if one of them is NaN.
template <int V> DLC_INLINE Vec<V> maximum(Vec<V> a, Vec<V> b) {
  return Vec<V>(_mm256_max_ps(__m256(a), __m256(b)));
}

/// Returns row[which & 7] in each lane, by a register permutation. `row` is aligned to 32 bytes.
template <int V> DLC_INLINE Vec<V> lookUp(const float (&row)[8], Ints<V> which) {
  return Vec<V>(_mm256_permutevar8x32_ps(_mm256_load_ps(row), __m256i(which)));
}

/// Loads V bf16 elements as f32.
template <int V> DLC_INLINE Vec<V> widen(const uint16_t *from) {
  return Vec<V>(_mm256_castsi256_ps(_mm256_slli_epi32(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))), 16)));
}
/// Loads the first `count` bf16 elements as f32; the other lanes are 0.
template <int V> DLC_INLINE Vec<V> widenFirst(const uint16_t *from, int64_t count) {
  alignas(32) uint16_t some[V] = {};
  for (int64_t i = 0; i < V && i < count; ++i)
    some[i] = from[i];
  return widen<V>(some);
}

template <int V> DLC_INLINE Ints<V> splatInt(int32_t x) { return Ints<V>(_mm256_set1_epi32(x)); }
template <int V> DLC_INLINE Ints<V> loadInts(const uint8_t *from) {
  return Ints<V>(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}
template <int V> DLC_INLINE Vec<V> toFloats(Ints<V> x) {
  return Vec<V>(_mm256_cvtepi32_ps(__m256i(x)));
}
/// Converts f32 lanes to integers, rounded to the nearest.
template <int V> DLC_INLINE Ints<V> toInts(Vec<V> x) {
  return Ints<V>(_mm256_cvtps_epi32(__m256(x)));
}
template <int V> DLC_INLINE Ints<V> bytesToInts(const uint8_t *from) {
  return Ints<V>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from))));
}
/// Stores the lowest byte of each 32-bit lane.
template <int V> DLC_INLINE void storeBytes(void *to, Ints<V> x) {
  const __m256i last = _mm256_and_si256(__m256i(x), _mm256_set1_epi32(0xff));
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(last), _mm256_extracti128_si256(last, 1));
  _mm_storel_epi64(static_cast<__m128i *>(to), _mm_packus_epi16(words, words));
}

/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, two in each 16-bit
/// lane, whose range suffices for 32 products with 4-bit weights.
template <int V> DLC_INLINE Ints<V> addByteProducts(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  return Ints<V>(
      _mm256_add_epi16(__m256i(sums), _mm256_maddubs_epi16(__m256i(weights), __m256i(x))));
}
/// Adds the two 16-bit halves of each lane, and multiplies the sums by `factor`.
template <int V> DLC_INLINE Ints<V> sumPairs(Ints<V> pairs, int16_t factor) {
  return Ints<V>(_mm256_madd_epi16(__m256i(pairs), _mm256_set1_epi16(factor)));
}

/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, four in each 32-bit
/// lane. With `isSmall`, all weights are at most 63, so that sums of two products fit 16 bits.
template <int V, bool isSmall>
DLC_INLINE Ints<V> dotBytes(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  const __m256i w = __m256i(weights), v = __m256i(x);
  if constexpr (isSmall)
    return sums + Ints<V>(_mm256_madd_epi16(_mm256_maddubs_epi16(w, v), _mm256_set1_epi16(1)));
  const __m256i even = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(0xff)),
                                         _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8));
  const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(v, 8));
  return sums + Ints<V>(even) + Ints<V>(odd);
}
/// Returns table[b] for each byte b of `which`, which must be below 16.
template <int V> DLC_INLINE Ints<V> lookUpBytes(const uint8_t (&table)[16], Ints<V> which) {
  const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i *>(table));
  return Ints<V>(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), __m256i(which)));
}

/// Adds v to `sum` in the lanes whose byte of `positions` is `tap`.
template <int V>
DLC_INLINE void addWhereEqual(Vec<V> &sum, const uint8_t *positions, int32_t tap, Vec<V> v) {
  sum += bytesToInts<V>(positions) == Ints<V>{} + tap ? v : Vec<V>{};
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_AVX2_LANES_H

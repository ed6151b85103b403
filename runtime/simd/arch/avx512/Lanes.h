//===- Lanes.h - vectors of 16 lanes on AVX-512 ---------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_AVX512_LANES_H
#define DLC_RUNTIME_SIMD_ARCH_AVX512_LANES_H

#include "runtime/simd/arch/Vectors.h"

#include <immintrin.h>

namespace dlc::simd {
namespace {

/// Number of f32 lanes in the vectors of kernels.
constexpr int kLanes = 16;

/// Returns a mask of the first `count` of 16 lanes: no lane if `count` is below 1, all lanes if it
/// is 16 or more.
using Mask = __mmask16;
DLC_INLINE Mask makeLaneMask(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}

template <int V> DLC_INLINE Vec<V> splat(float x) { return Vec<V>(_mm512_set1_ps(x)); }

/// Loads V elements with a stride of `stride` elements.
template <int V, int stride> DLC_INLINE Vec<V> gather(const float *from) {
  const __m512i at =
      _mm512_mullo_epi32(_mm512_set1_epi32(stride),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  return Vec<V>(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, at, from, 4));
}

template <int V> DLC_INLINE Vec<V> loadMasked(const float *from, Mask mask) {
  return Vec<V>(_mm512_maskz_loadu_ps(mask, from));
}
template <int V> DLC_INLINE void storeMasked(float *to, Mask mask, Vec<V> v) {
  _mm512_mask_storeu_ps(to, mask, __m512(v));
}

template <int V> DLC_INLINE void storeNonTemporal(float *to, Vec<V> v) {
  _mm512_stream_ps(to, __m512(v));
}
DLC_INLINE void fenceNonTemporal() { _mm_sfence(); }

/// Compiler barrier: later loads remain after the computation of v, which stays in a register.
template <int V> DLC_INLINE void keepInRegister(Vec<V> &v) {
  asm volatile("" : "+v"(v) : : "memory");
}

/// Rounds to the nearest integer, ties to even.
template <int V> DLC_INLINE Vec<V> roundToEven(Vec<V> x) {
  return Vec<V>(_mm512_roundscale_ps(__m512(x), _MM_FROUND_TO_NEAREST_INT));
}

/// Returns a * b + c, rounded once. The compiler does not choose another contraction.
template <int V> DLC_INLINE Vec<V> multiplyAdd(Vec<V> a, Vec<V> b, Vec<V> c) {
  return Vec<V>(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
}

template <int V> DLC_INLINE Vec<V> squareRoot(Vec<V> x) {
  return Vec<V>(_mm512_sqrt_ps(__m512(x)));
}

/// Returns a / c with an error of two units in the last place; |c| must be between 2^-100 and
/// 2^100. It uses a reciprocal estimate and a Newton step: those instructions are pipelined, while
/// a 512-bit division takes the time of a dozen instructions.
template <int V> DLC_INLINE Vec<V> fastDivide(Vec<V> a, Vec<V> c) {
  Vec<V> r = Vec<V>(_mm512_rcp14_ps(__m512(c)));
  r += r * (1 - c * r);
  return a * r;
}

/// Returns p 2^n, where `whole` is n as f32.
template <int V> DLC_INLINE Vec<V> scaleByPowerOfTwo(Vec<V> p, Vec<V> whole, Ints<V>) {
  return Vec<V>(_mm512_scalef_ps(__m512(p), __m512(whole)));
}

/// Returns the larger of a and b in each lane, and b if one of them is NaN.
template <int V> DLC_INLINE Vec<V> maximum(Vec<V> a, Vec<V> b) {
  return Vec<V>(_mm512_max_ps(__m512(a), __m512(b)));
}

/// Returns row[which & 7] in each lane, by a register permutation. `row` is aligned to 32 bytes.
template <int V> DLC_INLINE Vec<V> lookUp(const float (&row)[8], Ints<V> which) {
  return Vec<V>(_mm512_permutexvar_ps(__m512i(which), _mm512_castps256_ps512(_mm256_load_ps(row))));
}

/// Loads V bf16 elements as f32.
template <int V> DLC_INLINE Vec<V> widen(const uint16_t *from) {
  return Vec<V>(_mm512_castsi512_ps(_mm512_slli_epi32(
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))), 16)));
}
/// Loads the first `count` bf16 elements as f32; the other lanes are 0.
template <int V> DLC_INLINE Vec<V> widenFirst(const uint16_t *from, int64_t count) {
  return Vec<V>(_mm512_castsi512_ps(_mm512_slli_epi32(
      _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(makeLaneMask(count), from)), 16)));
}

/// Loads V f16 elements as f32.
template <int V> DLC_INLINE Vec<V> widenHalf(const uint8_t *from) {
  return Vec<V>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
}

template <int V> DLC_INLINE Ints<V> splatInt(int32_t x) { return Ints<V>(_mm512_set1_epi32(x)); }
template <int V> DLC_INLINE Ints<V> loadInts(const uint8_t *from) {
  return Ints<V>(_mm512_loadu_si512(from));
}
template <int V> DLC_INLINE Vec<V> toFloats(Ints<V> x) {
  return Vec<V>(_mm512_cvtepi32_ps(__m512i(x)));
}
/// Converts f32 lanes to integers, rounded to the nearest.
template <int V> DLC_INLINE Ints<V> toInts(Vec<V> x) {
  return Ints<V>(_mm512_cvtps_epi32(__m512(x)));
}
template <int V> DLC_INLINE Ints<V> bytesToInts(const uint8_t *from) {
  return Ints<V>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
}
/// Stores the lowest byte of each 32-bit lane.
template <int V> DLC_INLINE void storeBytes(void *to, Ints<V> x) {
  _mm_storeu_si128(static_cast<__m128i *>(to), _mm512_cvtepi32_epi8(__m512i(x)));
}

/// Whether addByteProducts() adds four products in each 32-bit lane; otherwise it adds two in each
/// 16-bit lane.
constexpr bool kSumsFourBytes = true;

#ifdef __AVX512VNNI__
/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, four in each 32-bit
/// lane.
template <int V> DLC_INLINE Ints<V> addByteProducts(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  return Ints<V>(_mm512_dpbusd_epi32(__m512i(sums), __m512i(weights), __m512i(x)));
}
#endif
#ifdef __AVX512VNNI__
/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, four in each 32-bit
/// lane. With `isSmall`, all weights are at most 63.
template <int V, bool isSmall>
DLC_INLINE Ints<V> dotBytes(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  return Ints<V>(_mm512_dpbusd_epi32(__m512i(sums), __m512i(weights), __m512i(x)));
}
#endif
/// Returns table[b] for each byte b of `which`, which must be below 16.
template <int V> DLC_INLINE Ints<V> lookUpBytes(const uint8_t (&table)[16], Ints<V> which) {
  const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i *>(table));
  return Ints<V>(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(row), __m512i(which)));
}
/// Returns the sums of addByteProducts(), which have 32 bits already.
template <int V> DLC_INLINE Ints<V> sumPairs(Ints<V> sums, int16_t) { return sums; }

/// Replaces `best` and `at` in the lanes where v is larger. NaN is the largest value. Of equal
/// values, the first one remains.
template <int V> DLC_INLINE void takeLarger(Vec<V> v, int32_t tap, Vec<V> &best, Ints<V> &at) {
  __mmask16 known = _mm512_cmp_ps_mask(__m512(best), __m512(best), _CMP_ORD_Q);
  __mmask16 larger = _mm512_mask_cmp_ps_mask(known, __m512(v), __m512(best), _CMP_NLE_UQ);
  best = Vec<V>(_mm512_mask_mov_ps(__m512(best), larger, __m512(v)));
  at = Ints<V>(_mm512_mask_set1_epi32(__m512i(at), larger, tap));
}

/// Maximum of vectors. Each vector adds the latency of only one operation. NaN is the largest
/// value.
template <int V> struct NanMaximum {
  Vec<V> best = Vec<V>{} - __builtin_inff();
  __mmask16 unordered = 0;
  DLC_INLINE void take(Vec<V> v) {
    unordered |= _mm512_cmp_ps_mask(__m512(v), __m512(v), _CMP_UNORD_Q);
    best = Vec<V>(_mm512_max_ps(__m512(v), __m512(best)));
  }
  DLC_INLINE Vec<V> result() const {
    return Vec<V>(_mm512_mask_mov_ps(__m512(best), unordered, _mm512_set1_ps(__builtin_nanf(""))));
  }
};

/// Adds v to `sum` in the lanes whose byte of `positions` is `tap`.
template <int V>
DLC_INLINE void addWhereEqual(Vec<V> &sum, const uint8_t *positions, int32_t tap, Vec<V> v) {
  __m128i places = _mm_loadu_si128(reinterpret_cast<const __m128i *>(positions));
  __mmask16 here = _mm_cmpeq_epi8_mask(places, _mm_set1_epi8(char(tap)));
  sum = Vec<V>(_mm512_mask_add_ps(__m512(sum), here, __m512(sum), __m512(v)));
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_AVX512_LANES_H

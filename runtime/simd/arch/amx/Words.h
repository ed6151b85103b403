//===- Words.h - vectors of 16 lanes for packing into tiles ---------------===//
//
// An Ints<16> has 16 lanes of 32 bits, or 32 words of 16 bits.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_AMX_WORDS_H
#define DLC_RUNTIME_SIMD_ARCH_AMX_WORDS_H

#include "runtime/simd/arch/avx512/Lanes.h"

namespace dlc::simd {
namespace {

/// Mask of words.
using WordMask = __mmask32;
DLC_INLINE WordMask makeWordMask(int64_t count) {
  return count >= 32 ? ~__mmask32(0) : (__mmask32(1) << count) - 1;
}

/// Loads the words that are in the mask; the others are 0.
DLC_INLINE Ints<16> loadWords(const uint16_t *from, WordMask mask) {
  return Ints<16>(_mm512_maskz_loadu_epi16(mask, from));
}
/// Returns the words of `v` at the indices in `order`.
DLC_INLINE Ints<16> permuteWords(Ints<16> order, Ints<16> v) {
  return Ints<16>(_mm512_permutexvar_epi16(__m512i(order), __m512i(v)));
}
/// Returns the words of `x`, with indices from 0, and of `y`, with indices from 32, at the indices
/// in `order`.
DLC_INLINE Ints<16> permuteWords(Ints<16> x, Ints<16> order, Ints<16> y) {
  return Ints<16>(_mm512_permutex2var_epi16(__m512i(x), __m512i(order), __m512i(y)));
}

// Loads and stores of memory that is aligned to 64 bytes.
DLC_INLINE Ints<16> loadAlignedInts(const void *from) { return Ints<16>(_mm512_load_si512(from)); }
DLC_INLINE Vec<16> loadAligned(const float *from) { return Vec<16>(_mm512_load_ps(from)); }
DLC_INLINE void storeAligned(float *to, Vec<16> v) { _mm512_store_ps(to, __m512(v)); }
DLC_INLINE void storeAligned(char *to, Ints<16> v) { _mm512_store_si512(to, __m512i(v)); }

/// Returns a b + c, rounded once.
DLC_INLINE Vec<16> multiplyAdd(Vec<16> a, Vec<16> b, Vec<16> c) {
  return Vec<16>(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
}
/// Returns c - a b, rounded once.
DLC_INLINE Vec<16> subtractProduct(Vec<16> a, Vec<16> b, Vec<16> c) {
  return Vec<16>(_mm512_fnmadd_ps(__m512(a), __m512(b), __m512(c)));
}

/// Returns the lanes of v that are in the mask; the others are 0.
DLC_INLINE Vec<16> keepLanes(Mask mask, Vec<16> v) {
  return Vec<16>(_mm512_maskz_mov_ps(mask, __m512(v)));
}
/// Returns the lanes of v in which x is positive; the others are 0.
DLC_INLINE Vec<16> keepWherePositive(Vec<16> x, Vec<16> v) {
  return keepLanes(_mm512_cmp_ps_mask(__m512(x), _mm512_setzero_ps(), _CMP_GT_OQ), v);
}
/// Adds x to one lane of v.
DLC_INLINE Vec<16> addToLane(Vec<16> v, unsigned lane, float x) {
  return Vec<16>(_mm512_mask_add_ps(__m512(v), static_cast<__mmask16>(1u << lane), __m512(v),
                                    _mm512_set1_ps(x)));
}

/// Transposes 16 x 16 elements of 32 bits.
inline void transpose(Ints<16> (&given)[16]) {
  auto &r = reinterpret_cast<__m512i(&)[16]>(given);
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_AMX_WORDS_H

//===- Bf16.h - conversion of operands to bf16 tiles ----------------------===//
//
// f32 is split into bf16 parts, and 4-bit and 8-bit weights are unpacked to bf16.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_AMX_BF16_H
#define DLC_RUNTIME_SIMD_ARCH_AMX_BF16_H

#include "runtime/simd/arch/amx/Words.h"

namespace dlc::simd {
namespace {

/// Returns the next bf16 part of the two vectors x and y, and replaces x and y by their remainders.
/// If `pairs` is set, each 32-bit lane has the part of x in its lower half and the part of y in its
/// upper half. Otherwise the parts of x precede those of y.
template <bool pairs>
inline Ints<16> splitBf16Part(Vec<16> &givenX, Vec<16> &givenY, Ints<16> given) {
  auto &x = reinterpret_cast<__m512 &>(givenX), &y = reinterpret_cast<__m512 &>(givenY);
  const __m512i interleave = __m512i(given);
  const __m512 most = _mm512_set1_ps(0x1.fep+127f);
  __m512i both = (__m512i)_mm512_cvtne2ps_pbh(y, x);
  __m512i order = pairs ? _mm512_permutexvar_epi16(interleave, both) : both;
  __m512 headX, headY;
  if (pairs) {
    headX = _mm512_castsi512_ps(_mm512_slli_epi32(order, 16));
    headY = _mm512_castsi512_ps(_mm512_and_si512(order, _mm512_set1_epi32(int(0xffff0000))));
  } else {
    headX = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(both)), 16));
    headY = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(both, 1)), 16));
  }
  __mmask16 wildX = _mm512_cmp_ps_mask(_mm512_abs_ps(x), most, _CMP_NLE_UQ);
  __mmask16 wildY = _mm512_cmp_ps_mask(_mm512_abs_ps(y), most, _CMP_NLE_UQ);
  if (__builtin_expect((wildX | wildY) == 0, 1)) {
    x = _mm512_sub_ps(x, headX);
    y = _mm512_sub_ps(y, headY);
    return Ints<16>(order);
  }
  // Values that would round to infinity are truncated instead. Infinities and NaN have a remainder
  // of 0.
  auto tamed = [&](__m512 &v, __mmask16 wild) {
    __m512i bits = _mm512_castps_si512(v), upper = _mm512_set1_epi32(int(0xffff0000));
    __mmask16 finite =
        _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(0x1.fffffep+127f), _CMP_LE_OQ);
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    __m512i head = _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v)), 16);
    head = _mm512_mask_and_epi32(head, wild, bits, upper);
    head = _mm512_mask_or_epi32(head, nan, head, _mm512_set1_epi32(0x400000));
    v = _mm512_maskz_sub_ps(finite, v, _mm512_castsi512_ps(head));
    return head;
  };
  __m512i wholeX = tamed(x, wildX), wholeY = tamed(y, wildY);
  if (pairs)
    return Ints<16>(_mm512_or_si512(_mm512_srli_epi32(wholeX, 16), wholeY));
  return Ints<16>(_mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeX, 16))),
      _mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeY, 16)), 1));
}

/// Returns the order of words for splitBf16Part<true>().
inline Ints<16> makeInterleaveIndices() {
  alignas(64) int16_t order[32];
  for (int i = 0; i < 16; ++i) {
    order[2 * i] = int16_t(i);
    order[2 * i + 1] = int16_t(16 + i);
  }
  return loadAlignedInts(order);
}

/// Byte shuffles that widen the first two bytes (`low`) or the last two bytes (`high`) of each
/// 32-bit lane to words.
struct WidenShuffles {
  __m512i low = each(0), high = each(2);

  static __m512i each(int first) {
    constexpr int kNone = 0x80;
    alignas(16) uint8_t from[16];
    for (int i = 0; i < 16; ++i)
      from[i] = uint8_t(i % 2 ? kNone : i / 4 * 4 + first + i % 4 / 2);
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i *>(from)));
  }
};

/// Returns `x` in all words.
inline Ints<16> splatWord(int16_t x) { return Ints<16>(_mm512_set1_epi16(x)); }

/// Returns the negated bytes, one for each lane, in both words of the lane.
inline Ints<16> negateToWords(const uint8_t *zeros) {
  const __m512i each =
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(zeros)));
  return Ints<16>(
      _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_or_si512(each, _mm512_slli_epi32(each, 16))));
}

/// Unpacks the 4-bit weights of one step, with `added` added to each, into a bf16 tile. Each row of
/// the tile has two elements of k for every column.
[[gnu::noinline]] inline void unpackFourBits(const uint8_t *from, Ints<16> added, char *to) {
  const __m512i shift = __m512i(added);
  // Table of the bf16 values of the 5-bit integers in two's complement.
  alignas(64) static constexpr uint16_t kWhole[32] = {
      0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0x4100, 0x4110, 0x4120,
      0x4130, 0x4140, 0x4150, 0x4160, 0x4170, 0xc180, 0xc170, 0xc160, 0xc150, 0xc140, 0xc130,
      0xc120, 0xc110, 0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80};
  const __m512i whole = _mm512_load_si512(kWhole), nibble = _mm512_set1_epi16(15);
  const WidenShuffles spread;
  auto store = [&](int row, __m512i words) {
    const __m512i index = _mm512_add_epi16(words, shift);
    _mm512_store_si512(to + row * 64, _mm512_permutexvar_epi16(index, whole));
  };
  for (int row = 0; row < 16; row += 4, from += 64) {
    const __m512i bytes = _mm512_loadu_si512(from);
    const __m512i first = _mm512_shuffle_epi8(bytes, spread.low),
                  second = _mm512_shuffle_epi8(bytes, spread.high);
    store(row, _mm512_and_si512(first, nibble));
    store(row + 1, _mm512_and_si512(second, nibble));
    store(row + 2, _mm512_srli_epi16(first, 4));
    store(row + 3, _mm512_srli_epi16(second, 4));
  }
}

/// Unpacks the 8-bit weights of one step into a bf16 tile.
inline void unpackEightBits(const uint8_t *from, Ints<16> added, char *to) {
  const __m512i shift = __m512i(added);
  const WidenShuffles spread;
  auto store = [&](int row, __m512i words) {
    const __m512i each = _mm512_add_epi16(words, shift);
    const __m512 low = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(each, 16), 16)),
                 high = _mm512_cvtepi32_ps(_mm512_srai_epi32(each, 16));
    const __m512i upper = _mm512_set1_epi32(int(0xffff0000));
    _mm512_store_si512(to + row * 64,
                       _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(low), 16),
                                       _mm512_and_si512(_mm512_castps_si512(high), upper)));
  };
  for (int row = 0; row < 16; row += 2, from += 64) {
    const __m512i bytes = _mm512_loadu_si512(from);
    store(row, _mm512_shuffle_epi8(bytes, spread.low));
    store(row + 1, _mm512_shuffle_epi8(bytes, spread.high));
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_AMX_BF16_H

//===- Pack.cpp - packing of f32 operands as bf16 parts -------------------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/Functions.h"
#include "runtime/library/tiles/Lanes.h"

#include <cstring>

namespace dlc::tiles {

namespace {

/// Returns the next bf16 part of the two vectors x and y, and replaces x and y by their remainders.
/// If `pairs` is set, each 32-bit lane has the part of x in its lower half and the part of y in its
/// upper half. Otherwise the parts of x precede those of y.
template <bool pairs> inline __m512i splitBf16Part(__m512 &x, __m512 &y, __m512i interleave) {
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
    return order;
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
    return _mm512_or_si512(_mm512_srli_epi32(wholeX, 16), wholeY);
  return _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeX, 16))),
      _mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeY, 16)), 1);
}

inline __m512i makeInterleaveIndices() {
  alignas(64) int16_t order[32];
  for (int i = 0; i < 16; ++i) {
    order[2 * i] = int16_t(i);
    order[2 * i + 1] = int16_t(16 + i);
  }
  return _mm512_load_si512(order);
}

/// Prefetch distance in bytes while packing an operand whose lanes are adjacent in memory.
constexpr int64_t kAhead = 256;

/// Packs 16 lanes by 32 elements of the reduction dimension (depth) into one tile of each part; the
/// parts have a stride of kPartBytes. A tile of the left operand has a row for each lane. A tile of
/// the right operand has a row for each two elements of the reduction dimension. If `runs` is set,
/// the elements are adjacent in memory along the depth, otherwise along the lanes.
template <bool runs, bool left>
inline void packTile(const float *from, int64_t stride, int parts, char *to, __m512i interleave) {
  __m512 x[16], y[16];
  for (int i = 0; i < 16; ++i) {
    const float *first = from + (runs ? i : 2 * i) * stride;
    const float *second = runs ? first + 16 : first + stride;
    x[i] = _mm512_loadu_ps(first);
    y[i] = _mm512_loadu_ps(second);
    if (!runs) {
      _mm_prefetch(reinterpret_cast<const char *>(first) + kAhead, _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char *>(second) + kAhead, _MM_HINT_T0);
    }
  }
  for (int part = 0; part < parts; ++part) {
    __m512i rows[16];
    for (int i = 0; i < 16; ++i)
      rows[i] = splitBf16Part<!runs>(x[i], y[i], interleave);
    if (runs != left)
      transpose(rows);
    for (int i = 0; i < 16; ++i)
      _mm512_store_si512(to + part * kPartBytes + 64 * i, rows[i]);
  }
}

struct PackSource {
  const float *from;
  int64_t lane, depth, lanes, depths;
  PackPosition place;
};

template <bool exponential>
inline __m512 applyPrologue(const Prologue &prologue, __m512 v, int64_t row, int64_t column) {
  if (prologue.shift)
    v = _mm512_sub_ps(v, _mm512_set1_ps(prologue.shift[row * prologue.shiftStep]));
  if (exponential)
    v = __m512(simd::exponential<16>(simd::Vec<16>(v)));
  if (prologue.factor)
    v = _mm512_mul_ps(v, _mm512_set1_ps(prologue.factor[row * prologue.factorStep]));
  if (prologue.hot) {
    auto lane = static_cast<uint64_t>(prologue.hot[row] - column);
    if (lane < static_cast<uint64_t>(kHalf))
      v = _mm512_mask_add_ps(v, static_cast<__mmask16>(1u << lane), v,
                             _mm512_set1_ps(prologue.value));
  }
  return v;
}

/// Applies the prologue to 16 lanes by 32 elements of the reduction dimension and packs them into
/// one tile of each part. Elements after the operand's end are padding of 0.
template <bool left, bool exponential>
void packChanged(const PackSource &source, int64_t firstLane, int64_t firstDepth, int64_t lanes,
                 int64_t depths, int parts, char *tile, __m512i interleave) {
  const PackPosition &place = source.place;
  const float *from = source.from + firstLane * source.lane + firstDepth * source.depth;
  if (place.across) {
    alignas(64) float values[kDepth][kHalf];
    __mmask16 mask = makeLaneMask(lanes);
    int64_t row = place.row + firstDepth, column = place.column + firstLane;
    __m512 sums[4] = {};
    for (int64_t k = 0; k < depths; ++k) {
      const float *at = from + k * source.depth;
      _mm_prefetch(reinterpret_cast<const char *>(at) + kAhead, _MM_HINT_T0);
      __m512 v = applyPrologue<exponential>(*place.prologue, _mm512_maskz_loadu_ps(mask, at),
                                            row + k, column);
      v = _mm512_maskz_mov_ps(mask, v);
      sums[k % 4] = _mm512_add_ps(sums[k % 4], v);
      _mm512_store_ps(values[k], v);
    }
    for (int64_t k = depths; k < kDepth; ++k)
      _mm512_store_ps(values[k], _mm512_setzero_ps());
    if (place.sums) {
      float *to = place.sums + firstLane;
      __m512 sum = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
      if (!place.isFirst || firstDepth > 0)
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, to));
      _mm512_mask_storeu_ps(to, mask, sum);
    }
    packTile<false, left>(&values[0][0], kHalf, parts, tile, interleave);
    return;
  }
  alignas(64) float values[kHalf][kDepth];
  int64_t row = place.row + firstLane, column = place.column + firstDepth;
  for (int64_t i = 0; i < kHalf; ++i)
    for (int64_t half = 0; half < kDepth; half += kHalf) {
      __mmask16 mask = makeLaneMask(i < lanes ? depths - half : 0);
      __m512 v = _mm512_setzero_ps();
      if (mask) {
        v = _mm512_maskz_loadu_ps(mask, from + i * source.lane + half);
        v = _mm512_maskz_mov_ps(
            mask, applyPrologue<exponential>(*place.prologue, v, row + i, column + half));
      }
      _mm512_store_ps(values[i] + half, v);
    }
  packTile<true, left>(&values[0][0], kDepth, parts, tile, interleave);
}

/// Packs one block of an operand: 32 lanes by 32 elements of the reduction dimension, in all parts.
template <bool left>
void packBlock(const PackSource &source, int64_t block, int64_t step, int parts, char *to,
               __m512i interleave) {
  for (int64_t half = 0; half < 2; ++half) {
    int64_t firstLane = block * kBlock + half * kHalf, firstDepth = step * kDepth;
    const float *from = source.from + firstLane * source.lane + firstDepth * source.depth;
    char *tile = to + half * kTile;
    int64_t lanes = source.lanes - firstLane < kHalf ? source.lanes - firstLane : kHalf;
    int64_t depths = source.depths - firstDepth < kDepth ? source.depths - firstDepth : kDepth;
    if (lanes <= 0) {
      for (int part = 0; part < parts; ++part)
        std::memset(tile + part * kPartBytes, 0, kTile);
    } else if (source.place.prologue) {
      if (source.place.prologue->exponential)
        packChanged<left, true>(source, firstLane, firstDepth, lanes, depths, parts, tile,
                                interleave);
      else
        packChanged<left, false>(source, firstLane, firstDepth, lanes, depths, parts, tile,
                                 interleave);
    } else if (lanes == kHalf && depths == kDepth && source.depth == 1) {
      packTile<true, left>(from, source.lane, parts, tile, interleave);
    } else if (lanes == kHalf && depths == kDepth && source.lane == 1) {
      packTile<false, left>(from, source.depth, parts, tile, interleave);
    } else if (source.lane == 1 && source.depth != 1) {
      alignas(64) float edge[kDepth][kHalf] = {};
      for (int64_t k = 0; k < depths; ++k)
        _mm512_store_ps(edge[k],
                        _mm512_maskz_loadu_ps(makeLaneMask(lanes), from + k * source.depth));
      packTile<false, left>(&edge[0][0], kHalf, parts, tile, interleave);
    } else {
      alignas(64) float edge[kHalf][kDepth] = {};
      for (int64_t i = 0; i < lanes && i < kHalf; ++i) {
        const float *row = from + i * source.lane;
        if (source.depth == 1) {
          _mm512_store_ps(edge[i], _mm512_maskz_loadu_ps(makeLaneMask(depths), row));
          _mm512_store_ps(edge[i] + kHalf,
                          _mm512_maskz_loadu_ps(makeLaneMask(depths - kHalf), row + kHalf));
          continue;
        }
        for (int64_t k = 0; k < depths; ++k)
          edge[i][k] = row[k * source.depth];
      }
      packTile<true, left>(&edge[0][0], kDepth, parts, tile, interleave);
    }
  }
}

template <bool left> void pack(const PackSource &source, int parts, char *to) {
  __m512i interleave = makeInterleaveIndices();
  bool across = source.place.prologue ? source.place.across : source.lane == 1;
  forEachBlock(source.lanes, source.depths, across, [&](int64_t block, int64_t step, int64_t at) {
    packBlock<left>(source, block, step, parts, to + at * parts * kPartBytes, interleave);
  });
}

} // namespace

void packPixels(const PixelRun &run, int parts, char *to, int64_t stepStride, int64_t partStride) {
  int64_t steps = (run.channels + kDepth - 1) / kDepth;
  if (!run.from) {
    for (int64_t step = 0; step < steps; ++step)
      for (int part = 0; part < parts; ++part)
        std::memset(to + step * stepStride + part * partStride, 0, size_t(run.count * kPixelBytes));
    return;
  }
  __m512i none = _mm512_setzero_si512();
  for (int64_t i = 0; i < run.count; ++i) {
    const float *from = run.from + i * run.stride;
    char *row = to + i * kPixelBytes;
    for (int64_t step = 0; step < steps; ++step, from += kDepth, row += stepStride) {
      int64_t left = run.channels - step * kDepth;
      __m512 x = _mm512_maskz_loadu_ps(makeLaneMask(left), from),
             y = _mm512_maskz_loadu_ps(makeLaneMask(left - kHalf), from + kHalf);
      for (int part = 0; part < parts; ++part)
        _mm512_store_si512(row + part * partStride, splitBf16Part<false>(x, y, none));
    }
  }
}

void packLeft(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              int parts, void *to, const PackPosition &place) {
  pack<true>({from, lane, depth, lanes, depths, place}, parts, static_cast<char *>(to));
}

void packRight(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               int parts, void *to, const PackPosition &place) {
  pack<false>({from, lane, depth, lanes, depths, place}, parts, static_cast<char *>(to));
}

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void packLeft(const float *, int64_t, int64_t, int64_t, int64_t, int, void *,
              const PackPosition &) {}
void packRight(const float *, int64_t, int64_t, int64_t, int64_t, int, void *,
               const PackPosition &) {}
void packPixels(const PixelRun &, int, char *, int64_t, int64_t) {}

} // namespace dlc::tiles

#endif

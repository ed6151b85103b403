//===- Pairs.cpp - packing of pixel pairs and their sums on AMX tiles -----===//
#include "runtime/library/tiles/Pairs.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/tiles/Sums.h"

#include <immintrin.h>

namespace dlc::tiles {

namespace {

/// Interleaved channels of two pixels: the first 16 channels and the next 16.
struct PixelPair {
  __m512i first, second;
};

class PixelPairReader {
public:
  explicit PixelPairReader(const PixelPairs &run) : run(run), lines((run.channels + 31) / 32) {
    alignas(64) int16_t order[2][32];
    for (int i = 0; i < 16; ++i)
      for (int half = 0; half < 2; ++half) {
        order[half][2 * i] = int16_t(16 * half + i);
        order[half][2 * i + 1] = int16_t(32 + 16 * half + i);
      }
    lower = _mm512_load_si512(order[0]);
    upper = _mm512_load_si512(order[1]);
    fetched = run.more ? 2 * run.pairs : 4 * run.pairs;
  }

  int64_t blocks() const { return lines; }

  void begin(int64_t index) {
    channel = 32 * index;
    int64_t left = run.channels - channel;
    mask = left >= 32 ? ~__mmask32(0) : (__mmask32(1) << left) - 1;
  }

  __attribute__((always_inline)) PixelPair at(int64_t pair) {
    fetch();
    fetch();
    __m512i a = pixel(run.pixels[2 * pair]), b = pixel(run.pixels[2 * pair + 1]);
    return {_mm512_permutex2var_epi16(a, lower, b), _mm512_permutex2var_epi16(a, upper, b)};
  }

private:
  bool isThere(int32_t index) const { return index >= 0 && index < run.limit; }

  __attribute__((always_inline)) __m512i pixel(int32_t index) const {
    if (!isThere(index))
      return _mm512_setzero_si512();
    return _mm512_maskz_loadu_epi16(mask, run.from + index * run.channels + channel);
  }

  /// Prefetches a cache line (32 channels) of the following run of pixel pairs. Successive calls
  /// prefetch all lines of one pixel, then those of the next pixel.
  __attribute__((always_inline)) void fetch() {
    if (fetched >= 4 * run.pairs)
      return;
    if (int32_t index = run.pixels[fetched]; isThere(index))
      _mm_prefetch(reinterpret_cast<const char *>(run.from + index * run.channels + 32 * line),
                   _MM_HINT_T0);
    if (++line == lines)
      line = 0, ++fetched;
  }

  const PixelPairs &run;
  int64_t lines, channel = 0, fetched = 0, line = 0;
  __mmask32 mask = 0;
  __m512i lower, upper;
};

template <bool tall, bool wide> void sum(const PixelSums &product, float *sums) {
  constexpr int64_t row = 128;
  if (product.isFirst) {
    zeroSums<true>();
  } else {
    _tile_loadd(0, sums, row);
    if (wide)
      _tile_loadd(1, sums + 16, row);
    if (tall)
      _tile_loadd(2, sums + 512, row);
    if (tall && wide)
      _tile_loadd(3, sums + 528, row);
  }
  for (int64_t group = 0; group < product.groups; ++group) {
    const char *left = product.left + group * product.leftGroup;
    const char *right = product.right + group * product.rightGroup;
    for (int64_t step = 0; step < product.steps; ++step) {
      _tile_loadd(6, right, product.rightRow);
      if (wide)
        _tile_loadd(7, right + 64, product.rightRow);
      _tile_loadd(4, left, 64);
      _tile_dpbf16ps(0, 4, 6);
      if (wide)
        _tile_dpbf16ps(1, 4, 7);
      if (tall) {
        _tile_loadd(5, left + kTile, 64);
        _tile_dpbf16ps(2, 5, 6);
        if (wide)
          _tile_dpbf16ps(3, 5, 7);
      }
      left += product.leftStep;
      right += 16 * product.rightRow;
    }
  }
  _tile_stored(0, sums, row);
  if (wide)
    _tile_stored(1, sums + 16, row);
  if (tall)
    _tile_stored(2, sums + 512, row);
  if (tall && wide)
    _tile_stored(3, sums + 528, row);
}

} // namespace

void packPairs(const PixelPairs &run, int64_t row, int64_t block, char *to) {
  PixelPairReader reader(run);
  for (int64_t index = 0; index < reader.blocks(); ++index, to += block) {
    reader.begin(index);
    for (int64_t pair = 0; pair < run.pairs; ++pair) {
      PixelPair both = reader.at(pair);
      _mm512_store_si512(to + pair * row, both.first);
      if (row > 64)
        _mm512_store_si512(to + pair * row + 64, both.second);
    }
  }
}

void packTransposed(const PixelPairs &run, bool tall, int64_t block, char *to) {
  PixelPairReader reader(run);
  for (int64_t index = 0; index < reader.blocks(); ++index, to += block) {
    reader.begin(index);
    __m512i first[16], second[16];
    for (int i = 0; i < 16; ++i) {
      PixelPair both = reader.at(i);
      first[i] = both.first;
      second[i] = both.second;
    }
    transpose(first);
    for (int i = 0; i < 16; ++i)
      _mm512_store_si512(to + 64 * i, first[i]);
    if (!tall)
      continue;
    transpose(second);
    for (int i = 0; i < 16; ++i)
      _mm512_store_si512(to + kTile + 64 * i, second[i]);
  }
}

void sumPixels(const PixelSums &product, float *sums) {
  publish(product.left);
  if (product.tall && product.wide)
    sum<true, true>(product, sums);
  else if (product.tall)
    sum<true, false>(product, sums);
  else if (product.wide)
    sum<false, true>(product, sums);
  else
    sum<false, false>(product, sums);
  publish(sums);
}

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void packPairs(const PixelPairs &, int64_t, int64_t, char *) {}
void packTransposed(const PixelPairs &, bool, int64_t, char *) {}
void sumPixels(const PixelSums &, float *) {}

} // namespace dlc::tiles

#endif

//===- Pairs.cpp - packing of pixel pairs and their sums on AMX tiles -----===//
#include "runtime/library/tiles/Pairs.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/tiles/Sums.h"

namespace dlc::tiles {

namespace {

/// Interleaved channels of two pixels: the first 16 channels and the next 16.
struct PixelPair {
  Ints first, second;
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
    lower = simd::loadAlignedInts(order[0]);
    upper = simd::loadAlignedInts(order[1]);
    fetched = run.more ? 2 * run.pairs : 4 * run.pairs;
  }

  int64_t blocks() const { return lines; }

  void begin(int64_t index) {
    channel = 32 * index;
    mask = simd::makeWordMask(run.channels - channel);
  }

  __attribute__((always_inline)) PixelPair at(int64_t pair) {
    fetch();
    fetch();
    Ints a = pixel(run.pixels[2 * pair]), b = pixel(run.pixels[2 * pair + 1]);
    return {simd::permuteWords(a, lower, b), simd::permuteWords(a, upper, b)};
  }

private:
  bool isThere(int32_t index) const { return index >= 0 && index < run.limit; }

  __attribute__((always_inline)) Ints pixel(int32_t index) const {
    if (!isThere(index))
      return Ints{};
    return simd::loadWords(run.from + index * run.channels + channel, mask);
  }

  /// Prefetches a cache line (32 channels) of the following run of pixel pairs. Successive calls
  /// prefetch all lines of one pixel, then those of the next pixel.
  __attribute__((always_inline)) void fetch() {
    if (fetched >= 4 * run.pairs)
      return;
    if (int32_t index = run.pixels[fetched]; isThere(index))
      simd::prefetch(run.from + index * run.channels + 32 * line);
    if (++line == lines)
      line = 0, ++fetched;
  }

  const PixelPairs &run;
  int64_t lines, channel = 0, fetched = 0, line = 0;
  simd::WordMask mask = 0;
  Ints lower, upper;
};

template <bool tall, bool wide> void sum(const PixelSums &product, float *sums) {
  constexpr int64_t row = 128;
  if (product.isFirst) {
    zeroSums<true>();
  } else {
    simd::loadTile<0>(sums, row);
    if (wide)
      simd::loadTile<1>(sums + 16, row);
    if (tall)
      simd::loadTile<2>(sums + 512, row);
    if (tall && wide)
      simd::loadTile<3>(sums + 528, row);
  }
  for (int64_t group = 0; group < product.groups; ++group) {
    const char *left = product.left + group * product.leftGroup;
    const char *right = product.right + group * product.rightGroup;
    for (int64_t step = 0; step < product.steps; ++step) {
      simd::loadTile<6>(right, product.rightRow);
      if (wide)
        simd::loadTile<7>(right + 64, product.rightRow);
      simd::loadTile<4>(left, 64);
      simd::addTileProducts<0, 4, 6>();
      if (wide)
        simd::addTileProducts<1, 4, 7>();
      if (tall) {
        simd::loadTile<5>(left + kTile, 64);
        simd::addTileProducts<2, 5, 6>();
        if (wide)
          simd::addTileProducts<3, 5, 7>();
      }
      left += product.leftStep;
      right += 16 * product.rightRow;
    }
  }
  simd::storeTile<0>(sums, row);
  if (wide)
    simd::storeTile<1>(sums + 16, row);
  if (tall)
    simd::storeTile<2>(sums + 512, row);
  if (tall && wide)
    simd::storeTile<3>(sums + 528, row);
}

} // namespace

void packPairs(const PixelPairs &run, int64_t row, int64_t block, char *to) {
  PixelPairReader reader(run);
  for (int64_t index = 0; index < reader.blocks(); ++index, to += block) {
    reader.begin(index);
    for (int64_t pair = 0; pair < run.pairs; ++pair) {
      PixelPair both = reader.at(pair);
      simd::storeAligned(to + pair * row, both.first);
      if (row > 64)
        simd::storeAligned(to + pair * row + 64, both.second);
    }
  }
}

void packTransposed(const PixelPairs &run, bool tall, int64_t block, char *to) {
  PixelPairReader reader(run);
  for (int64_t index = 0; index < reader.blocks(); ++index, to += block) {
    reader.begin(index);
    Ints first[16], second[16];
    for (int i = 0; i < 16; ++i) {
      PixelPair both = reader.at(i);
      first[i] = both.first;
      second[i] = both.second;
    }
    transpose(first);
    for (int i = 0; i < 16; ++i)
      simd::storeAligned(to + 64 * i, first[i]);
    if (!tall)
      continue;
    transpose(second);
    for (int i = 0; i < 16; ++i)
      simd::storeAligned(to + kTile + 64 * i, second[i]);
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

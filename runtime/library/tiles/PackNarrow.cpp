//===- PackNarrow.cpp - packing of bf16 operands for tiles ----------------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/Narrow.h"
#include "runtime/library/tiles/Lanes.h"

namespace dlc::tiles {

namespace {

struct PackSource {
  const uint16_t *from;
  int64_t lane, depth, lanes, depths;
};

template <bool turns> inline void storeTile(Ints (&rows)[16], char *to) {
  if (turns)
    transpose(rows);
  for (int i = 0; i < 16; ++i)
    simd::storeAligned(to + 64 * i, rows[i]);
}

/// Packs a block of up to 32 lanes (rows of the left operand, columns of the right operand) by up
/// to 32 elements of the reduction dimension into tiles. Elements after the operand's end are
/// padding of 0. The elements are adjacent in memory along the reduction dimension.
template <bool left>
inline void packContiguous(const uint16_t *from, int64_t lane, int64_t lanes, int64_t depths,
                           char *to) {
  const simd::WordMask mask = simd::makeWordMask(depths);
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t first = half * kHalf;
    if (left && first >= lanes)
      return;
    Ints rows[16];
    for (int64_t i = 0; i < kHalf; ++i)
      rows[i] = first + i < lanes ? simd::loadWords(from + (first + i) * lane, mask) : Ints{};
    storeTile<!left>(rows, to + half * kTile);
  }
}

/// Packs a block of up to 32 lanes by up to 32 elements of the reduction dimension, whose lanes are
/// adjacent in memory. Both halves of the block are packed together, since they share cache lines.
/// The next step's elements are prefetched into the L2 cache: the rows may be so far apart that
/// only few of them fit the L1 cache.
template <bool left>
inline void packAcross(const uint16_t *from, int64_t depth, int64_t lanes, int64_t depths, char *to,
                       const Ints (&order)[2]) {
  const simd::WordMask mask = simd::makeWordMask(lanes);
  Ints low[16], high[16];
  auto row = [&](int64_t k) {
    if (k >= depths)
      return Ints{};
    const uint16_t *at = from + k * depth;
    simd::prefetch<simd::CacheLevel::L2>(at + kDepth * depth);
    return simd::loadWords(at, mask);
  };
  for (int i = 0; i < 16; ++i) {
    const Ints x = row(2 * i), y = row(2 * i + 1);
    low[i] = simd::permuteWords(x, order[0], y);
    high[i] = simd::permuteWords(x, order[1], y);
  }
  storeTile<left>(low, to);
  if (!left || lanes > kHalf)
    storeTile<left>(high, to + kTile);
}

template <bool left> void pack(const PackSource &source, char *to) {
  // Shuffle indices that interleave the elements of two memory rows, for the first and for the
  // second half of the lanes.
  alignas(64) int16_t places[2][32];
  for (int i = 0; i < 64; ++i)
    places[i / 32][i % 32] = int16_t(i / 2 + (i % 2) * 32);
  const Ints order[2] = {simd::loadAlignedInts(places[0]), simd::loadAlignedInts(places[1])};
  const bool across = source.depth != 1;
  forEachBlock(source.lanes, source.depths, across, [&](int64_t block, int64_t step, int64_t at) {
    const int64_t lane = block * kBlock, depth = step * kDepth;
    const uint16_t *from = source.from + lane * source.lane + depth * source.depth;
    if (across)
      packAcross<left>(from, source.depth, source.lanes - lane, source.depths - depth,
                       to + at * kPartBytes, order);
    else
      packContiguous<left>(from, source.lane, source.lanes - lane, source.depths - depth,
                           to + at * kPartBytes);
  });
}

} // namespace

void packLeft(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              void *to) {
  pack<true>({from, lane, depth, lanes, depths}, static_cast<char *>(to));
}

void packRight(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               void *to) {
  pack<false>({from, lane, depth, lanes, depths}, static_cast<char *>(to));
}

void narrow(const float *from, int64_t count, uint16_t *to) { simd::narrow<16>(from, count, to); }

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void packLeft(const uint16_t *, int64_t, int64_t, int64_t, int64_t, void *) {}
void packRight(const uint16_t *, int64_t, int64_t, int64_t, int64_t, void *) {}
void narrow(const float *, int64_t, uint16_t *) {}

} // namespace dlc::tiles

#endif

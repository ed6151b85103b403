//===- Pack.cpp - packing of f32 operands as bf16 parts -------------------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/Functions.h"
#include "runtime/library/tiles/Lanes.h"
#include "runtime/simd/arch/amx/Bf16.h"

#include <cstring>

namespace dlc::tiles {

namespace {

/// Prefetch distance in bytes while packing an operand whose lanes are adjacent in memory.
constexpr int64_t kAhead = 256;

/// Packs 16 lanes by 32 elements of the reduction dimension (depth) into one AMX tile for each bf16
/// part of the f32 elements; the tiles have a stride of kPartBytes. A tile of the left operand has
/// a row for each lane. A tile of the right operand has a row for each two elements of the
/// reduction dimension. If `runs` is set, the elements are adjacent in memory along the depth,
/// otherwise along the lanes.
template <bool runs, bool left>
inline void packTile(const float *from, int64_t stride, int parts, char *to, Ints interleave) {
  Floats x[16], y[16];
  for (int i = 0; i < 16; ++i) {
    const float *first = from + (runs ? i : 2 * i) * stride;
    const float *second = runs ? first + 16 : first + stride;
    x[i] = simd::load<16>(first);
    y[i] = simd::load<16>(second);
    if (!runs) {
      simd::prefetch(reinterpret_cast<const char *>(first) + kAhead);
      simd::prefetch(reinterpret_cast<const char *>(second) + kAhead);
    }
  }
  for (int part = 0; part < parts; ++part) {
    Ints rows[16];
    for (int i = 0; i < 16; ++i)
      rows[i] = simd::splitBf16Part<!runs>(x[i], y[i], interleave);
    if (runs != left)
      transpose(rows);
    for (int i = 0; i < 16; ++i)
      simd::storeAligned(to + part * kPartBytes + 64 * i, rows[i]);
  }
}

struct PackSource {
  const float *from;
  int64_t lane, depth, lanes, depths;
  PackPosition place;
};

template <bool exponential>
inline Floats applyPrologue(const Prologue &prologue, Floats v, int64_t row, int64_t column) {
  if (prologue.shift)
    v = v - simd::splat<16>(prologue.shift[row * prologue.shiftStep]);
  if (exponential)
    v = simd::exponential<16>(v);
  if (prologue.factor)
    v = v * simd::splat<16>(prologue.factor[row * prologue.factorStep]);
  if (prologue.hot) {
    auto lane = static_cast<uint64_t>(prologue.hot[row] - column);
    if (lane < static_cast<uint64_t>(kHalf))
      v = simd::addToLane(v, unsigned(lane), prologue.value);
  }
  return v;
}

/// Applies the prologue to 16 lanes by 32 elements of the reduction dimension and packs them into
/// one tile of each part. Elements after the operand's end are padding of 0.
template <bool left, bool exponential>
void packChanged(const PackSource &source, int64_t firstLane, int64_t firstDepth, int64_t lanes,
                 int64_t depths, int parts, char *tile, Ints interleave) {
  const PackPosition &place = source.place;
  const float *from = source.from + firstLane * source.lane + firstDepth * source.depth;
  if (place.across) {
    alignas(64) float values[kDepth][kHalf];
    Mask mask = makeLaneMask(lanes);
    int64_t row = place.row + firstDepth, column = place.column + firstLane;
    Floats sums[4] = {};
    for (int64_t k = 0; k < depths; ++k) {
      const float *at = from + k * source.depth;
      simd::prefetch(reinterpret_cast<const char *>(at) + kAhead);
      Floats v = applyPrologue<exponential>(*place.prologue, loadMasked(at, mask), row + k, column);
      v = simd::keepLanes(mask, v);
      sums[k % 4] += v;
      simd::storeAligned(values[k], v);
    }
    for (int64_t k = depths; k < kDepth; ++k)
      simd::storeAligned(values[k], Floats{});
    if (place.sums) {
      float *to = place.sums + firstLane;
      Floats sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      if (!place.isFirst || firstDepth > 0)
        sum = sum + loadMasked(to, mask);
      simd::storeMasked<16>(to, mask, sum);
    }
    packTile<false, left>(&values[0][0], kHalf, parts, tile, interleave);
    return;
  }
  alignas(64) float values[kHalf][kDepth];
  int64_t row = place.row + firstLane, column = place.column + firstDepth;
  for (int64_t i = 0; i < kHalf; ++i)
    for (int64_t half = 0; half < kDepth; half += kHalf) {
      Mask mask = makeLaneMask(i < lanes ? depths - half : 0);
      Floats v = {};
      if (mask) {
        v = loadMasked(from + i * source.lane + half, mask);
        v = simd::keepLanes(mask,
                            applyPrologue<exponential>(*place.prologue, v, row + i, column + half));
      }
      simd::storeAligned(values[i] + half, v);
    }
  packTile<true, left>(&values[0][0], kDepth, parts, tile, interleave);
}

/// Packs one block of an operand: 32 lanes by 32 elements of the reduction dimension, in all parts.
template <bool left>
void packBlock(const PackSource &source, int64_t block, int64_t step, int parts, char *to,
               Ints interleave) {
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
        simd::storeAligned(edge[k], loadMasked(from + k * source.depth, makeLaneMask(lanes)));
      packTile<false, left>(&edge[0][0], kHalf, parts, tile, interleave);
    } else {
      alignas(64) float edge[kHalf][kDepth] = {};
      for (int64_t i = 0; i < lanes && i < kHalf; ++i) {
        const float *row = from + i * source.lane;
        if (source.depth == 1) {
          simd::storeAligned(edge[i], loadMasked(row, makeLaneMask(depths)));
          simd::storeAligned(edge[i] + kHalf,
                             loadMasked(row + kHalf, makeLaneMask(depths - kHalf)));
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
  Ints interleave = simd::makeInterleaveIndices();
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
  Ints none = {};
  for (int64_t i = 0; i < run.count; ++i) {
    const float *from = run.from + i * run.stride;
    char *row = to + i * kPixelBytes;
    for (int64_t step = 0; step < steps; ++step, from += kDepth, row += stepStride) {
      int64_t left = run.channels - step * kDepth;
      Floats x = loadMasked(from, makeLaneMask(left)),
             y = loadMasked(from + kHalf, makeLaneMask(left - kHalf));
      for (int part = 0; part < parts; ++part)
        simd::storeAligned(row + part * partStride, simd::splitBf16Part<false>(x, y, none));
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

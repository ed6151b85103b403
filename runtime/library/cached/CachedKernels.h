//===- CachedKernels.h - kernel templates for attention over a cache ------===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_CACHED_CACHEDKERNELS_H
#define DLC_RUNTIME_LIBRARY_CACHED_CACHEDKERNELS_H

#include "runtime/library/cached/Kernels.h"
#include "runtime/library/simd/Functions.h"
#include "runtime/library/simd/Lanes.h"

namespace dlc::cached {
namespace {

using simd::Vec;

/// Loads V elements of a cache as f32.
template <int V, bool isBf16> DLC_INLINE Vec<V> loadCached(const uint16_t *from) {
  if constexpr (isBf16)
    return simd::widen<V>(from);
  else
    return simd::widenHalf<V>(reinterpret_cast<const uint8_t *>(from));
}

template <int V, int... I> DLC_INLINE Vec<V / 2> addHalves(Vec<V> x, simd::Indices<I...>) {
  return __builtin_shufflevector(x, x, I...) + __builtin_shufflevector(x, x, (V / 2 + I)...);
}
template <int V> DLC_INLINE float sumLanes(Vec<V> x) {
  if constexpr (V == 2)
    return x[0] + x[1];
  else
    return sumLanes<V / 2>(addHalves<V>(x, simd::Count<V / 2>()));
}

/// Applies the soft cap to scores, replaces them by the exponentials of their differences from the
/// largest score, and stores the largest score and the sum of the exponentials. `count` is a
/// multiple of V; unused scores are -infinity.
template <int V> void computeExponentials(const Part &part, float *scores, int count, float *sums) {
  Vec<V> largest = simd::splat<V>(-__builtin_inff()), total = {};
  for (int i = 0; i < count; i += V) {
    Vec<V> score = simd::load<V>(scores + i);
    if (part.softCap != 0) {
      const Vec<V> capped = part.softCap * simd::computeTanh<V>(score / part.softCap);
      score = score == -__builtin_inff() ? score : capped;
      simd::store<V>(scores + i, score);
    }
    // A NaN score makes `largest` NaN, and with it all results.
    const auto isLarger = (score > largest) | (score != score);
    largest = isLarger ? score : largest;
  }
  float maximum = largest[0];
  for (int i = 1; i < V; ++i)
    maximum = largest[i] > maximum || largest[i] != largest[i] ? largest[i] : maximum;
  // If all scores are -infinity, so are their differences from 0, and all sums are 0.
  const float subtracted = maximum == -__builtin_inff() ? 0 : maximum;
  for (int i = 0; i < count; i += V) {
    const Vec<V> e = simd::exponential<V>(simd::load<V>(scores + i) - subtracted);
    simd::store<V>(scores + i, e);
    total += e;
  }
  sums[kLargest] = maximum;
  sums[kTotal] = maximum == maximum ? sumLanes<V>(total) : maximum;
}

/// Implements PartKernel for H heads.
template <int V, bool isBf16, int H>
void computePart(const Part &part, const float *queries, float *sums, int64_t stride) {
  alignas(64) float scores[H][kPart];
  const int64_t size = part.headSize, first = part.begin % part.capacity;
  const int count = int(part.end - part.begin), padded = (count + V - 1) / V * V;
  for (int i = 0; i < count; ++i) {
    const int64_t row = first + i < part.capacity ? first + i : first + i - part.capacity;
    const uint16_t *key = part.keys + row * size;
    Vec<V> dots[H] = {};
    for (int64_t d = 0; d < size; d += V) {
      const Vec<V> k = loadCached<V, isBf16>(key + d);
#pragma GCC unroll 4
      for (int h = 0; h < H; ++h)
        dots[h] = simd::multiplyAdd<V>(simd::load<V>(queries + h * size + d), k, dots[h]);
    }
#pragma GCC unroll 4
    for (int h = 0; h < H; ++h)
      scores[h][i] = sumLanes<V>(dots[h]) * part.scale;
  }
  for (int h = 0; h < H; ++h) {
    for (int i = count; i < padded; ++i)
      scores[h][i] = -__builtin_inff();
    computeExponentials<V>(part, scores[h], padded, sums + h * stride);
  }
  for (int64_t d = 0; d < size; d += V) {
    Vec<V> result[H] = {};
    for (int i = 0; i < count; ++i) {
      const int64_t row = first + i < part.capacity ? first + i : first + i - part.capacity;
      const Vec<V> v = loadCached<V, isBf16>(part.values + row * size + d);
#pragma GCC unroll 4
      for (int h = 0; h < H; ++h)
        result[h] = simd::multiplyAdd<V>(simd::splat<V>(scores[h][i]), v, result[h]);
    }
#pragma GCC unroll 4
    for (int h = 0; h < H; ++h)
      simd::store<V>(sums + h * stride + kSums + d, result[h]);
  }
}

template <int V>
constexpr Kernels kKernels = {{computePart<V, false, 1>, computePart<V, true, 1>},
                              {computePart<V, false, kHeads>, computePart<V, true, kHeads>}};

} // namespace
} // namespace dlc::cached

#endif // DLC_RUNTIME_LIBRARY_CACHED_CACHEDKERNELS_H

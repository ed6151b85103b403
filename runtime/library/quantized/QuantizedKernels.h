//===- QuantizedKernels.h - kernel templates for weights in block formats -===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_QUANTIZED_QUANTIZEDKERNELS_H
#define DLC_RUNTIME_LIBRARY_QUANTIZED_QUANTIZEDKERNELS_H

#include "runtime/library/quantized/Kernels.h"
#include "runtime/library/simd/Ints.h"

namespace dlc::quantized {
namespace {

using simd::Ints;
using simd::Vec;

/// Distance in bytes between the weights that are prefetched and those that are multiplied.
constexpr int64_t kPrefetch = 4096;

/// Packed record of V rows in the format of row F of the table.
template <int V, int F> struct Record {
  static constexpr Format kFormat = kTable[F];
  static constexpr Layout kAt = makeLayout(kFormat, V);
  static constexpr int kHalves = kGroup / kFormat.group;
  static constexpr bool kIsSmall =
      kFormat.values == Values::Fp4 || (kFormat.values == Values::Linear && kFormat.low < 8);

  const uint8_t *at;
  Vec<V> factor, minimumFactor;

  DLC_INLINE explicit Record(const uint8_t *record) : at(record), factor{}, minimumFactor{} {
    if constexpr (kFormat.hasExponents) {
      // Half of the E8M0 value, because kFp4Values are doubled.
      const Ints<V> exponent = simd::bytesToInts<V>(record);
      factor = Vec<V>(exponent < 2 ? (exponent + 1) << 21 : (exponent - 1) << 23);
    } else {
      factor = simd::widenHalf<V>(record);
    }
    if constexpr (kFormat.minimums != Minimums::None)
      minimumFactor = simd::widenHalf<V>(record + kAt.minimum);
  }

  /// Unpacks the values of 32 elements, plus the format's offset, to unsigned bytes: one vector for
  /// each quad of elements.
  DLC_INLINE void unpack(int64_t group, Ints<V> (&codes)[kQuads]) const {
    const uint8_t *low = at + kAt.codes + group * kAt.group;
#pragma GCC unroll 8
    for (int j = 0; j < kQuads; ++j) {
      codes[j] = getField<kFormat.low>(low, j, 0);
      if constexpr (kFormat.high != 0)
        codes[j] |= getField<kFormat.high>(low + kAt.high, j, kFormat.low);
      if constexpr (kFormat.values == Values::Iq4)
        codes[j] = simd::lookUpBytes<V>(kIq4Values, codes[j]);
      if constexpr (kFormat.values == Values::Fp4)
        codes[j] = simd::lookUpBytes<V>(kFp4Values, codes[j]);
    }
  }

  /// Returns the scales of group `group` of kFormat.group elements.
  DLC_INLINE Vec<V> scale(int64_t group) const {
    if constexpr (kFormat.scales == Scales::None) {
      return factor;
    } else {
      Ints<V> scale;
      if constexpr (kFormat.scales == Scales::Packed6) {
        const uint8_t *scales = at + kAt.scales;
        const Ints<V> low = simd::bytesToInts<V>(scales + group % 8 * V);
        const Ints<V> high = simd::bytesToInts<V>(scales + (8 + group % 4) * V);
        scale = ((low >> int(group / 8 * 4)) & 15) | (((high >> int(group / 4 * 2)) & 3) << 4);
      } else {
        scale = simd::bytesToInts<V>(at + kAt.scales + group * V);
        if constexpr (kFormat.scales == Scales::Nibbles)
          scale &= 15;
      }
      return factor * simd::toFloats<V>(scale - kFormat.scaleOffset);
    }
  }

  /// Returns the minimums of a group of kFormat.group elements. Their signs are such that they are
  /// added to scaled codes.
  DLC_INLINE Vec<V> minimum(int64_t group) const {
    if constexpr (kFormat.minimums == Minimums::Added)
      return minimumFactor;
    const Ints<V> bytes = kFormat.scales == Scales::Nibbles
                              ? simd::bytesToInts<V>(at + kAt.scales + group * V) >> 4
                              : simd::bytesToInts<V>(at + kAt.minimums + group * V);
    return -minimumFactor * simd::toFloats<V>(bytes);
  }

private:
  /// Returns the bits of quad j in a plane of `bits` bits, at bit `to` of each byte.
  template <int bits> DLC_INLINE static Ints<V> getField(const uint8_t *plane, int j, int to) {
    constexpr int kVectors = bits; // 32 elements of `bits` bits in vectors of four elements
    const Ints<V> all = simd::loadInts<V>(plane + j % kVectors * 4 * V);
    if constexpr (bits == 8)
      return all;
    const int from = j / kVectors * bits;
    const uint32_t mask = ((1u << bits) - 1) * 0x01010101u;
    return (from >= to ? all >> (from - to) : all << (to - from)) & int32_t(mask << to);
  }
};

/// Adds 32 elements of V rows times those of N columns to the sums of the columns. Consecutive
/// instructions belong to different columns, since each depends on the previous one of its column.
template <int V, int F, int N>
DLC_INLINE void multiplyGroup(const Ints<V> (&codes)[kQuads], const Vec<V> (&scales)[2],
                              const Vec<V> (&minimums)[2], const int8_t *values,
                              const ActivationFactors *factors, Vec<V> *sums) {
  using R = Record<V, F>;
  constexpr int kEach = kQuads / R::kHalves;
  Vec<V> scaled[N];
#pragma GCC unroll 2
  for (int half = 0; half < R::kHalves; ++half) {
    Ints<V> dots[N];
#pragma GCC unroll 4
    for (int c = 0; c < N; ++c)
      dots[c] = simd::splatInt<V>(R::kFormat.offset ? factors[c].start[half] : 0);
#pragma GCC unroll 8
    for (int j = half * kEach; j < (half + 1) * kEach; ++j)
#pragma GCC unroll 4
      for (int c = 0; c < N; ++c)
        dots[c] = simd::dotBytes<V, R::kIsSmall>(
            dots[c], codes[j], simd::splatFourBytes<V>(values + c * kGroup + 4 * j));
#pragma GCC unroll 4
    for (int c = 0; c < N; ++c) {
      const Vec<V> dot = simd::toFloats<V>(dots[c]);
      scaled[c] = half ? simd::multiplyAdd<V>(dot, scales[half], scaled[c]) : dot * scales[0];
      if constexpr (R::kFormat.minimums != Minimums::None)
        scaled[c] =
            simd::multiplyAdd<V>(minimums[half], simd::splat<V>(factors[c].sum[half]), scaled[c]);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < N; ++c)
    sums[c] = simd::multiplyAdd<V>(scaled[c], simd::splat<V>(factors[c].scale), sums[c]);
}

template <int V, int C>
DLC_INLINE void storeSums(const Vec<V> (&sums)[C], float *to, int64_t toColumn, int64_t rows) {
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c)
    if (rows >= V)
      simd::store<V>(to + c * toColumn, sums[c]);
    else
      simd::storeFirst<V>(to + c * toColumn, rows, sums[c]);
}

/// Implements TileKernel for C columns.
template <int V, int F, int C>
void multiplyTile(const uint8_t *panel, int64_t records, Tile tile, float *to, int64_t toColumn,
                  int64_t rows) {
  using R = Record<V, F>;
  constexpr int kTogether = C % 4 == 0 ? 4 : 1;
  Vec<V> sums[C] = {};
  const int8_t *values = tile.values;
  const ActivationFactors *factors = tile.factors;
  for (int64_t r = 0; r < records; ++r, panel += R::kAt.bytes) {
    const R record(panel);
    for (int64_t g = 0; g < R::kFormat.block / kGroup; ++g) {
      // Hardware prefetching suffices for wide tiles, which take longer for each record.
      if constexpr (C <= 4)
#pragma GCC unroll 16
        for (int line = 0; line < (R::kAt.bytes / (R::kFormat.block / kGroup) + 63) / 64; ++line)
          simd::prefetch(panel + R::kAt.codes + g * R::kAt.group + kPrefetch + line * 64);
      Ints<V> codes[kQuads];
      Vec<V> scales[2] = {}, minimums[2] = {};
      record.unpack(g, codes);
#pragma GCC unroll 2
      for (int half = 0; half < R::kHalves; ++half) {
        scales[half] = record.scale(g * R::kHalves + half);
        if constexpr (R::kFormat.minimums != Minimums::None)
          minimums[half] = record.minimum(g * R::kHalves + half);
      }
#pragma GCC unroll 4
      for (int c = 0; c < C; c += kTogether)
        multiplyGroup<V, F, kTogether>(codes, scales, minimums, values + c * kGroup, factors + c,
                                       sums + c);
      values += C * kGroup;
      factors += C;
    }
  }
  storeSums<V, C>(sums, to, toColumn, rows);
}

/// Implements StrictKernel for C columns. Dequantized weights are equal to the reference bit for
/// bit: the product of a scale and a code is exact in f32, so that only the addition of a minimum
/// rounds.
template <int V, int F, int C>
void multiplyStrict(const uint8_t *panel, int64_t records, const float *x, int64_t xColumn,
                    float *to, int64_t toColumn, int64_t rows) {
  using R = Record<V, F>;
  Vec<V> sums[C] = {};
  for (int64_t r = 0; r < records; ++r, panel += R::kAt.bytes) {
    const R record(panel);
    for (int64_t g = 0; g < R::kFormat.block / kGroup; ++g, x += kGroup) {
      Ints<V> codes[kQuads];
      record.unpack(g, codes);
      for (int j = 0; j < kQuads; ++j) {
        const int64_t group = g * R::kHalves + j * R::kHalves / kQuads;
        const Vec<V> scale = record.scale(group);
        Vec<V> minimum = {};
        if constexpr (R::kFormat.minimums != Minimums::None)
          minimum = record.minimum(group);
        for (int byte = 0; byte < 4; ++byte) {
          const Ints<V> code = ((codes[j] >> (8 * byte)) & 255) - R::kFormat.offset;
          Vec<V> weight = simd::toFloats<V>(code) * scale;
          if constexpr (R::kFormat.minimums != Minimums::None)
            weight += minimum;
#pragma GCC unroll 16
          for (int c = 0; c < C; ++c)
            sums[c] = simd::multiplyAdd<V>(weight, simd::splat<V>(x[c * xColumn + 4 * j + byte]),
                                           sums[c]);
        }
      }
    }
  }
  storeSums<V, C>(sums, to, toColumn, rows);
}

template <int V, int... I>
DLC_INLINE Ints<V / 2> takeHalf(Ints<V> x, int half, simd::Indices<I...>) {
  return half ? __builtin_shufflevector(x, x, (V / 2 + I)...) : __builtin_shufflevector(x, x, I...);
}
/// Combines all lanes by `combine`, which is applied to halves of the vector.
template <int V, typename Combine> DLC_INLINE int32_t reduce(Ints<V> x, const Combine &combine) {
  if constexpr (V == 2) {
    return combine(x[0], x[1]);
  } else {
    const auto places = simd::Count<V / 2>();
    return reduce<V / 2>(Ints<V / 2>(combine(takeHalf<V>(x, 0, places), takeHalf<V>(x, 1, places))),
                         combine);
  }
}

/// Implements Kernels::quantize. If an element is NaN or infinite, the factor is too.
template <int V>
void quantizeColumn(const Format &format, const float *x, int64_t groups, int64_t stride,
                    int8_t *values, ActivationFactors *factors) {
  for (int64_t g = 0; g < groups; ++g, x += kGroup) {
    // Magnitudes are ordered as integers; NaN is the largest.
    Ints<V> largest = {};
    for (int i = 0; i < kGroup; i += V) {
      const Ints<V> magnitude = Ints<V>(simd::load<V>(x + i)) & 0x7fffffff;
      largest = magnitude > largest ? magnitude : largest;
    }
    const int32_t bits = reduce<V>(largest, [](auto a, auto b) { return a > b ? a : b; });
    float maximum;
    __builtin_memcpy(&maximum, &bits, sizeof maximum);
    // If an element is NaN or infinite, all elements are stored as 0, and their products with the
    // factor are NaN.
    const bool isFinite = bits < 0x7f800000;
    const float inverse = maximum > 0x1p-110f ? 127 / maximum : 0;
    int32_t sums[2] = {};
    for (int i = 0; i < kGroup; i += V) {
      const Vec<V> scaled = simd::load<V>(x + i) * simd::splat<V>(inverse);
      const Ints<V> rounded = isFinite ? simd::toInts<V>(scaled) : Ints<V>{};
      simd::storeBytes<V>(values + g * stride * kGroup + i, rounded);
      sums[format.group == kGroup ? 0 : i / 16] +=
          reduce<V>(rounded, [](auto a, auto b) { return a + b; });
    }
    ActivationFactors &to = factors[g * stride];
    to.scale = maximum > 0x1p-110f || maximum != maximum ? maximum / 127 : 0;
    for (int half = 0; half < 2; ++half) {
      to.start[half] = -format.offset * sums[half];
      to.sum[half] = float(sums[half]);
    }
  }
}

template <int V, int F>
constexpr FormatKernels kFormatKernels = {
    {multiplyTile<V, F, kColumns[0]>, multiplyTile<V, F, kColumns[1]>,
     multiplyTile<V, F, kColumns[2]>},
    {multiplyStrict<V, F, kColumns[0]>, multiplyStrict<V, F, kColumns[1]>,
     multiplyStrict<V, F, kColumns[2]>}};

template <int V, int... F> constexpr Kernels makeKernels(simd::Indices<F...>) {
  return {V, {kFormatKernels<V, F>...}, quantizeColumn<V>};
}
template <int V> constexpr Kernels kKernels = makeKernels<V>(simd::Count<kFormats>());

} // namespace
} // namespace dlc::quantized

#endif // DLC_RUNTIME_LIBRARY_QUANTIZED_QUANTIZEDKERNELS_H

//===- AttentionKernels.h - attention kernels for vectors of any length ---===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTIONKERNELS_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTIONKERNELS_H

#include "runtime/library/attention/Kernels.h"

#include "runtime/library/vectors/ProductKernels.h"

namespace dlc::attention {
namespace {

using simd::Ints;
using simd::load;
using simd::splat;
using simd::store;
using simd::Vec;

constexpr float kInfinity = __builtin_inff(), kLowest = -0x1.fffffep+127f;

/// Exponential with an error of at most 2 units in the last place. The result is 0 where it would
/// be subnormal, and at most exp(88).
template <int V> DLC_INLINE Vec<V> exponential(Vec<V> given) {
  constexpr float least = -87.3f, most = 88.0f;
  // Comparisons with NaN are false, so NaN stays NaN.
  Vec<V> x = given < least ? splat<V>(least) : given;
  x = x > most ? splat<V>(most) : x;
  const Vec<V> magic = splat<V>(0x1.8p23f);
  Vec<V> shifted = x * 0x1.715476p+0f + magic;
  Vec<V> n = shifted - magic;
  Vec<V> r = x - n * 0x1.62e400p-1f;
  r = r - n * 0x1.7f7d1cp-20f;
  Vec<V> p = r * (1.0f / 720) + (1.0f / 120);
  p = p * r + (1.0f / 24);
  p = p * r + (1.0f / 6);
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  Vec<V> power = Vec<V>((Ints<V>(shifted) - Ints<V>(magic) + 127) << 23);
  return given < least ? Vec<V>{} : p * power;
}

template <int V> DLC_INLINE float sumLanes(Vec<V> v) {
  float sum = 0;
  for (int i = 0; i < V; ++i)
    sum += v[i];
  return sum;
}

/// Computes R rows by two vectors of columns of a matmul. If `along` is set, the elements of a row
/// of `a` are adjacent in memory, otherwise the elements of a column.
template <int V, int R, bool along>
DLC_INLINE void multiplyBlock(const MultiplyArguments &p, const float *a, const float *b,
                              float *dst) {
  Vec<V> sums[R][2];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < 2; ++c)
      sums[r][c] = p.adds ? load<V>(dst + r * p.dstRow + c * V) : Vec<V>{};
  simd::addProducts<V, R, 2>(a, along ? p.aRow : 1, along ? 1 : p.aColumn, b, 2 * V, p.depth, sums);
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < 2; ++c)
      store<V>(dst + r * p.dstRow + c * V, sums[r][c]);
}

template <int V, int R>
[[gnu::noinline]] void block(const MultiplyArguments &p, const float *a, const float *b,
                             float *dst) {
  if (p.aColumn == 1)
    multiplyBlock<V, R, true>(p, a, b, dst);
  else
    multiplyBlock<V, R, false>(p, a, b, dst);
}

template <int V, int maxRows> struct AttentionKernels {
  using Block = void (*)(const MultiplyArguments &, const float *, const float *, float *);

  template <int R = 1>
  static void blockOfRows(int64_t rows, const MultiplyArguments &p, const float *a, const float *b,
                          float *dst) {
    if (rows == R)
      return block<V, R>(p, a, b, dst);
    if constexpr (R < maxRows)
      blockOfRows<R + 1>(rows, p, a, b, dst);
  }

  static void multiply(const MultiplyArguments &p) {
    int64_t blocks = (p.rows + maxRows - 1) / maxRows;
    for (int64_t column = 0; column < p.columns; column += 2 * V) {
      const float *b = p.b + column / (2 * V) * p.panel;
      // The numbers of rows in two blocks differ by at most one.
      for (int64_t i = 0, row = 0; i < blocks; ++i) {
        int64_t rows = p.rows / blocks + (i < p.rows % blocks);
        blockOfRows(rows, p, p.a + row * p.aRow, b, p.dst + row * p.dstRow + column);
        row += rows;
      }
    }
  }

  static void packRight(const float *from, int64_t lane, int64_t depth, int64_t lanes,
                        int64_t depths, int64_t panel, float *to) {
    vectors::ProductKernels<V, maxRows>::pack(from, lane, depth, lanes, depths, 2 * V, panel, to);
  }

  static float finishScores(float *scores, const float *bias, float scale, int64_t count,
                            int64_t all, float least) {
    const Vec<V> hidden = splat<V>(-kInfinity);
    Vec<V> largest = splat<V>(least);
    for (int64_t i = 0; i < all; i += V) {
      Vec<V> s = load<V>(scores + i) * scale;
      if (bias) {
        Vec<V> b = load<V>(bias + i);
        s = b == hidden ? hidden : s + b;
      }
      if (i + V > count)
        for (int64_t j = count > i ? count - i : 0; j < V; ++j)
          s[j] = -kInfinity;
      store<V>(scores + i, s);
      largest = simd::maximum<V>(s, largest);
    }
    float most = least;
    for (int i = 0; i < V; ++i)
      most = largest[i] > most ? largest[i] : most;
    return most;
  }

  static float exponentials(float *scores, int64_t all, float largest) {
    const Vec<V> base = splat<V>(largest == -kInfinity ? kLowest : largest);
    Vec<V> sum{};
    for (int64_t i = 0; i < all; i += V) {
      Vec<V> e = exponential<V>(load<V>(scores + i) - base);
      store<V>(scores + i, e);
      sum += e;
    }
    return sumLanes<V>(sum);
  }

  static void gradients(float *scores, float *products, int64_t all, float lse, float share,
                        float scale) {
    const Vec<V> base = splat<V>(lse == -kInfinity ? kLowest : lse), none{};
    for (int64_t i = 0; i < all; i += V) {
      Vec<V> s = load<V>(scores + i);
      Vec<V> p = exponential<V>(s - base);
      Vec<V> ds = p * (load<V>(products + i) - share) * scale;
      store<V>(scores + i, s == -kInfinity ? none : p);
      store<V>(products + i, s == -kInfinity ? none : ds);
    }
  }

  /// Rounds an f32 to bf16 bits, to the nearest with ties to even. NaN stays NaN.
  static uint16_t roundToBf16(float x) {
    uint32_t bits = __builtin_bit_cast(uint32_t, x);
    if (x != x)
      return uint16_t(bits >> 16 | 0x40);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }

  static void scaled(const float *from, int64_t count, float factor, bool narrow, void *to) {
    if (narrow) {
      auto *bits = static_cast<uint16_t *>(to);
      for (int64_t i = 0; i < count; ++i)
        bits[i] = roundToBf16(from[i] * factor);
      return;
    }
    auto *numbers = static_cast<float *>(to);
    int64_t i = 0;
    for (; i + V <= count; i += V)
      store<V>(numbers + i, load<V>(from + i) * factor);
    for (; i < count; ++i)
      numbers[i] = from[i] * factor;
  }

  static void widen(const uint16_t *from, int64_t count, float *to) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = __builtin_bit_cast(float, uint32_t(from[i]) << 16);
  }

  static float dot(const float *x, const float *y, int64_t count) {
    Vec<V> sums{};
    int64_t i = 0;
    for (; i + V <= count; i += V)
      sums += load<V>(x + i) * load<V>(y + i);
    float sum = sumLanes<V>(sums);
    for (; i < count; ++i)
      sum += x[i] * y[i];
    return sum;
  }

  static const Kernels table;
};

template <int V, int maxRows>
const Kernels AttentionKernels<V, maxRows>::table = {
    V, 2 * V, packRight, multiply, finishScores, exponentials, gradients, scaled, widen, dot};

} // namespace
} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTIONKERNELS_H

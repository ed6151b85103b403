//===- BlockKernels.h - vector kernels for matmuls with block-quantized weights -===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_BLOCKKERNELS_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_BLOCKKERNELS_H

#include "runtime/library/blocks/Kernels.h"
#include "runtime/library/simd/EpilogueApplier.h"
#include "runtime/library/simd/Ints.h"

namespace dlc::blocks {
namespace {

using namespace simd;

/// Prefetch distance of the weights, in bytes.
constexpr int64_t kAhead = 8192;
/// Largest quantized value in D digits of base 256, with a margin for rounding.
template <int D> constexpr float kLargest = D == 1 ? 127 : D == 2 ? 0x7f00 : 0x7f7f00;
/// A block whose largest magnitude is below kMin is quantized to 0.
constexpr float kMin = 0x1p-100f;

template <int V> struct BlockKernels {
  /// Whether 32-bit lanes sum four products of bytes; otherwise 16-bit lanes sum two.
  static constexpr bool kIsWide = kSumsFourBytes;

  //===--- Quantization of rows into digits -------------------------------===//

  /// Number of rows that are multiplied by a panel of weights together.
  template <int D> static constexpr int kTogether = (D == 3 ? 4 : 8) / (kIsWide ? 1 : 2);

  /// Maximum number of rows that are multiplied by two panels of weights at a time.
  template <int D> static constexpr int kRowsOfTwoPanels = D == 3 ? 2 : 4;

  /// Calls `of` with the number of digits as a compile-time constant.
  template <int N> struct Number { static constexpr int value = N; };
  template <typename Of> DLC_INLINE static void withDigits(int64_t digits, const Of &of) {
    digits == 1 ? of(Number<1>()) : digits == 2 ? of(Number<2>()) : of(Number<3>());
  }

  /// Digits, blocks and count of up to `most` quantized rows, beginning with row `first`.
  struct RowGroup {
    RowGroup(const Shape &shape, const QuantizedRows &rows, int64_t first, int64_t most)
        : digits(rows.digits + first * shape.blocks * shape.digits * shape.depth),
          blocks(rows.blocks + first * shape.blocks),
          count(rows.count - first < most ? rows.count - first : most) {}
    int8_t *digits;
    BlockFactors *blocks;
    int64_t count;
  };

  static void digits(const Shape &shape, const float *x, int64_t row, const QuantizedRows &rows) {
    withDigits(shape.digits, [&](auto d) { digitsOf<decltype(d)::value>(shape, x, row, rows); });
  }

  template <int D>
  static void digitsOf(const Shape &shape, const float *x, int64_t row, const QuantizedRows &rows) {
    const int64_t in = row % kTogether<D>;
    const RowGroup some(shape, rows, row - in, kTogether<D>);
    for (int64_t g = 0; g < shape.blocks; ++g) {
      const int64_t at = g * some.count + in;
      block<D>(shape, x + g * shape.depth, shape.k - g * shape.depth,
               some.digits + at * D * shape.depth, some.blocks[at]);
    }
  }

  template <int D>
  DLC_INLINE static void block(const Shape &shape, const float *x, int64_t count, int8_t *to,
                               BlockFactors &b) {
    Ints<V> sizes{};
    for (int64_t i = 0; i < shape.depth; i += V) {
      Ints<V> size = Ints<V>(loadFirst<V>(x + i, count - i)) & INT32_MAX;
      sizes = size > sizes ? size : sizes;
    }
    int32_t largest = 0;
    for (int i = 0; i < V; ++i)
      largest = sizes[i] > largest ? sizes[i] : largest;
    float most;
    __builtin_memcpy(&most, &largest, sizeof most);
    constexpr int32_t kInfinite = 0x7f800000;
    const bool isNone = most < kMin || largest >= kInfinite;
    const float up = isNone ? 0 : kLargest<D> / most;
    // Infinities and NaN give the block a factor of NaN, so its results are NaN.
    float factor = largest >= kInfinite ? __builtin_nanf("") : isNone ? 0 : most / kLargest<D>;
    Ints<V> sums[D] = {};
    for (int64_t i = 0; i < shape.depth; i += V) {
      Ints<V> rest = isNone ? Ints<V>{} : toInts<V>(loadFirst<V>(x + i, count - i) * up);
#pragma GCC unroll 3
      for (int d = D - 1; d >= 0; --d) {
        Ints<V> digit = d == 0 ? rest : (rest << 24) >> 24;
        rest = (rest - digit) >> 8;
        sums[d] += digit;
        storeBytes<V>(to + d * shape.depth + i, digit);
      }
    }
    const auto shift = static_cast<int32_t>(shape.hasZeros ? -1 : shape.shift);
    for (int d = D - 1; d >= 0; --d, factor *= 256) {
      b.factors[d] = factor;
      b.start[d] = shift * sumLanes<V>(sums[d]);
    }
  }

  //===--- Sums -----------------------------------------------------------------===//

  /// Accumulates the sums of R quantized rows, in D digits, times P panels of weights.
  template <int bits, int D, int R, int P> struct Sums {
    using All = Ints<V>[P][R][D];

    const Shape &shape;
    const int8_t *digits; ///< digits of the first row
    const BlockFactors *blocks;
    int64_t together; ///< stride between two blocks, in rows
    const uint8_t *weights, *zeros;
    int64_t panelBytes, zeroBytes;

    /// Prefetches weights into the L1 cache if each byte is used by few operations. Otherwise the
    /// weights are prefetched into the L2 cache, since the L1 cache supports only few outstanding
    /// misses.
    DLC_INLINE static void ask(const void *at) {
      constexpr bool isLittle = D * R * 8 / bits <= 3;
      prefetch<isLittle ? CacheLevel::L1 : CacheLevel::L2>(at);
    }

    /// Adds the products of K elements of the reduction dimension to the sums.
    template <int K>
    DLC_INLINE void add(All &sums, const uint8_t *at, const int8_t *x, int64_t ahead) const {
      // With AVX2, 8-bit weights are split into low and high nibbles, which are multiplied by the
      // same elements of the rows.
      constexpr bool isSplit = !kIsWide && bits == 8;
      // A single row has too few sums to hide the latency of the additions, so low and high nibbles
      // have separate sums.
      constexpr bool isApart = isSplit || (kIsWide && bits == 4 && R * P == 1);
      All pairs = {}, highSums = {};
      All &low = kIsWide ? sums : pairs, &high = isApart ? highSums : low;
      constexpr int kStep = 32 / bits;
#pragma GCC unroll 8
      for (int k = 0; k < K; k += kStep) {
        Ints<V> lows[P], highs[P];
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) {
          const uint8_t *from = at + p * panelBytes + k * (V * bits / 8);
          ask(from + ahead);
          const Ints<V> w = loadInts<V>(from);
          lows[p] = bits == 4 || isSplit ? w & 0x0f0f0f0f : w;
          highs[p] = (w >> 4) & 0x0f0f0f0f;
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
          for (int d = 0; d < D; ++d) {
            const int8_t *from = x + (r * D + d) * shape.depth + k;
            const Ints<V> four = splatFourBytes<V>(from),
                          other = bits == 4 ? splatFourBytes<V>(from + 4) : four;
#pragma GCC unroll 4
            for (int p = 0; p < P; ++p) {
              low[p][r][d] = addByteProducts<V>(low[p][r][d], lows[p], four);
              if constexpr (bits == 4 || isSplit)
                high[p][r][d] = addByteProducts<V>(high[p][r][d], highs[p], other);
            }
          }
      }
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p)
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
          for (int d = 0; d < D; ++d) {
            if constexpr (!kIsWide)
              sums[p][r][d] += sumPairs<V>(pairs[p][r][d], 1);
            if constexpr (isApart)
              sums[p][r][d] += sumPairs<V>(highSums[p][r][d], 16);
          }
    }

    /// Converts the sums of digits to f32. The sums of the last two digits are combined as one
    /// integer if 32 bits suffice (Shape::joins).
    DLC_INLINE Vec<V> value(const Ints<V> (&sums)[D], const BlockFactors &b) const {
      if constexpr (D == 1) {
        return toFloats<V>(sums[0]) * b.factors[0];
      } else {
        const Ints<V> high = sums[D - 2], low = sums[D - 1];
        const Vec<V> last = shape.joins ? toFloats<V>((high << 8) + low) * b.factors[D - 1]
                                        : toFloats<V>(high) * b.factors[D - 2] +
                                              toFloats<V>(low) * b.factors[D - 1];
        return D == 2 ? last : toFloats<V>(sums[0]) * b.factors[0] + last;
      }
    }

    /// Computes the sums over all blocks and stores them as f32: [row][panel][V].
    void into(float *to) const {
      Vec<V> y[P][R] = {};
      const int64_t scales = shape.record - V * int64_t(sizeof(float));
      for (int64_t g = 0; g < shape.blocks; ++g) {
        const uint8_t *at = weights + g * shape.record;
        const int8_t *x = digits + g * together * D * shape.depth;
        // Near the end of the panels, the prefetch continues after the last of the P panels.
        const bool isInside = g * shape.record + kAhead < panelBytes;
        const int64_t ahead = kAhead + (isInside ? 0 : (P - 1) * panelBytes);
        All sums;
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) {
          const Ints<V> zero =
              zeros ? bytesToInts<V>(zeros + p * zeroBytes + g * V) : splatInt<V>(1);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
            for (int d = 0; d < D; ++d) {
              const Ints<V> start = splatInt<V>(blocks[g * together + r].start[d]);
              sums[p][r][d] = zeros ? start * zero : start;
            }
        }
        int64_t k = 0;
        for (; k + 32 <= shape.depth; k += 32)
          add<32>(sums, at + k * (V * bits / 8), x + k, ahead);
        if (k < shape.depth)
          add<16>(sums, at + k * (V * bits / 8), x + k, ahead);
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) {
          const auto *scaleAt = reinterpret_cast<const float *>(at + p * panelBytes + scales);
          const Vec<V> scale = load<V>(scaleAt);
          ask(reinterpret_cast<const char *>(scaleAt) + ahead);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r)
            y[p][r] += value(sums[p][r], blocks[g * together + r]) * scale;
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p)
          store<V>(to + (r * P + p) * V, y[p][r]);
    }
  };

  //===--- Rows by panels -------------------------------------------------===//

  struct Part {
    const Shape &shape;
    const QuantizedRows &rows;
    const uint8_t *weights;
    float *to;
    int64_t toRow;
    const Epilogue &epilogue;

    /// Computes R rows by P panels of the result. `row` is the index of the first row among all
    /// rows.
    template <int bits, int D, int R, int P>
    void one(const RowGroup &from, int64_t in, int64_t row, int64_t panel) const {
      const int64_t panelBytes = shape.blocks * shape.record, zeroBytes = shape.blocks * V;
      const uint8_t *zeros =
          shape.hasZeros ? weights + shape.panels * panelBytes + panel * zeroBytes : nullptr;
      alignas(64) float sums[R * P * V];
      Sums<bits, D, R, P>{shape,
                          from.digits + in * D * shape.depth,
                          from.blocks + in,
                          from.count,
                          weights + panel * panelBytes,
                          zeros,
                          panelBytes,
                          zeroBytes}
          .into(sums);
      for (int64_t p = 0; p < P; ++p) {
        const int64_t column = (panel + p) * V, left = shape.n - column;
        EpilogueApplier<V>::finish({sums + p * V, P * V, R, left < V ? left : V},
                                   {to + row * toRow + column, toRow, row, column}, &epilogue,
                                   false);
      }
    }

    /// Computes R rows of the result, or fewer if fewer remain. Returns the index after the last
    /// computed row.
    template <int bits, int D, int R, int P>
    int64_t most(const RowGroup &from, int64_t in, int64_t row, int64_t panel) const {
      constexpr int kFewer = R == 8 ? 4 : R == 1 ? 1 : R - 1;
      if (R > 1 && from.count - in < R)
        return most<bits, D, kFewer, P>(from, in, row, panel);
      one<bits, D, R, P>(from, in, row + in, panel);
      return in + R;
    }

    template <int bits, int D, int R, int P> void panels(int64_t &begin, int64_t end) const {
      for (; begin + P <= end; begin += P)
        for (int64_t row = 0; row < rows.count; row += kTogether<D>) {
          const RowGroup from(shape, rows, row, kTogether<D>);
          for (int64_t in = 0; in < from.count;)
            in = most<bits, D, R, P>(from, in, row, begin);
        }
    }

    template <int bits, int D> void all(int64_t begin, int64_t end) const {
      // A single row is memory bound: with AVX-512, reading one panel at a time is fastest.
      if (kIsWide && rows.count > 1 && rows.count <= kRowsOfTwoPanels<D>)
        panels<bits, D, kRowsOfTwoPanels<D>, 2>(begin, end);
      if (!kIsWide && bits == 4 && rows.count == 1)
        panels<bits, D, 1, 2>(begin, end);
      panels<bits, D, kTogether<D>, 1>(begin, end);
    }
  };

  static void multiply(const Shape &shape, const QuantizedRows &rows, const void *weights,
                       int64_t begin, int64_t end, float *to, int64_t toRow,
                       const Epilogue &epilogue) {
    const Part part{shape, rows, static_cast<const uint8_t *>(weights), to, toRow, epilogue};
    withDigits(shape.digits, [&](auto d) {
      constexpr int kDigits = decltype(d)::value;
      shape.bits == 8 ? part.template all<8, kDigits>(begin, end)
                      : part.template all<4, kDigits>(begin, end);
    });
  }

  static constexpr Kernels kernels{V, digits, multiply};
};

} // namespace
} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_BLOCKKERNELS_H

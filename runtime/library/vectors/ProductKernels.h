//===- ProductKernels.h - f32 matmul kernels for vectors of any length ----===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_PRODUCTKERNELS_H
#define DLC_RUNTIME_LIBRARY_VECTORS_PRODUCTKERNELS_H

#include "runtime/library/simd/Block.h"
#include "runtime/library/simd/EpilogueApplier.h"
#include "runtime/library/simd/Narrow.h"
#include "runtime/library/vectors/Kernels.h"

namespace dlc::vectors {
namespace {

using namespace simd;
using products::PostOpKind;

/// Prefetch distance along a memory row of an operand that is being packed, in bytes.
constexpr int64_t kAhead = 256;
/// Maximum number of rows in a block for which the right operand is always prefetched kStreamAhead
/// bytes ahead. For other blocks it is prefetched only if it is streamed. The prefetches raise the
/// bandwidth by a fifth over loads alone.
constexpr int kStreamed = 2;
constexpr int64_t kStreamAhead = 4096;
/// Number of memory rows that are packed together if the operand's lanes are adjacent in memory.
constexpr int64_t kAcross = 16;

template <int V, int maxRows> struct ProductKernels {
  /// Destination of a packed block of lanes: [depths][width].
  struct Target {
    float *to;
    int64_t width, depths;

    /// Stores a vector of lanes at one index of the reduction dimension. Lanes past the block's
    /// width are overwritten by the next store. Nothing is written past the block's end, where
    /// another thread may write.
    DLC_INLINE void put(int64_t first, int64_t depth, Vec<V> v) const {
      const int64_t offset = depth * width + first;
      float *at = to + offset;
      if (first + V <= width || offset + V <= depths * width)
        store<V>(at, v);
      else
        storeFirst<V>(at, width - first, v);
    }
  };

  /// Packs an operand of f32, or of bf16 bit patterns, into blocks of `width` f32 lanes.
  template <typename T>
  static void pack(const T *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                   int64_t width, int64_t between, float *to) {
    if (lane == 1) {
      for (int64_t some = 0; some < depths; some += kAcross)
        for (int64_t begin = 0; begin < lanes; begin += width)
          packAcross(from + begin, depth, lanes - begin, some,
                     {to + begin / width * between, width, depths});
      return;
    }
    for (int64_t begin = 0; begin < lanes; begin += width) {
      Target target{to + begin / width * between, width, depths};
      for (int64_t first = 0; first < width; first += V) {
        int64_t left = lanes - begin - first, most = width - first < V ? width - first : V;
        const T *at = from + (begin + first) * lane;
        for (int64_t k = 0; k < depths; k += V, at += V * depth)
          packSquare(at, lane, depth, left < most ? left : most, first, k, target);
      }
    }
  }

  /// Sums each packed lane over the reduction dimension, with four independent accumulators. The
  /// packed lanes are still in the cache.
  static void sums(const float *packed, int64_t lanes, int64_t depths, int64_t width,
                   int64_t between, bool more, float *to) {
    for (int64_t begin = 0; begin < lanes; begin += width, packed += between)
      for (int64_t first = 0; first < width && begin + first < lanes; first += V) {
        const int64_t inBlock = width - first, inAll = lanes - begin - first,
                      count = inBlock < inAll ? inBlock : inAll;
        const float *at = packed + first;
        float *sum = to + begin + first;
        Vec<V> chains[4] = {};
        int64_t k = 0;
        for (; k + 4 <= depths; k += 4, at += 4 * width)
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i)
            chains[i] += loadFirst<V>(at + i * width, count);
        for (; k < depths; ++k, at += width)
          chains[0] += loadFirst<V>(at, count);
        Vec<V> all = (chains[0] + chains[1]) + (chains[2] + chains[3]);
        storeFirst<V>(sum, count, more ? all + loadFirst<V>(sum, count) : all);
      }
  }

  static void multiply(const products::PanelArguments &panel, const products::Epilogue &epilogue) {
    const int64_t blocks = ((panel.rows + panel.blockRows - 1) / panel.blockRows) *
                           ((panel.columns + 2 * V - 1) / (2 * V)),
                  share = (panel.ahead.end - panel.ahead.begin + blocks - 1) / blocks;
    products::Prefetch ahead = panel.ahead;
    // Returns the next part of the prefetch range. Each block prefetches one part.
    auto next = [&] {
      products::Prefetch part = ahead;
      if (part.begin + share < part.end)
        part.end = part.begin + share;
      ahead.begin = part.end;
      return part;
    };
    for (int64_t row = 0; row < panel.rows; row += panel.blockRows) {
      int64_t rows = panel.rows - row < panel.blockRows ? panel.rows - row : panel.blockRows;
      for (int64_t column = 0; column < panel.columns; column += 2 * V)
        if (panel.columns - column > V)
          blockOfRows<2>(rows, panel, epilogue, next(), row, column);
        else
          blockOfRows<1>(rows, panel, epilogue, next(), row, column);
    }
  }

private:
  /// Packs up to kAcross elements of the reduction dimension from `k` on, for a block whose lanes
  /// are adjacent in memory.
  template <typename T>
  static void packAcross(const T *from, int64_t depth, int64_t lanes, int64_t k,
                         const Target &target) {
    const int64_t end = target.depths - k < kAcross ? target.depths : k + kAcross;
    for (; k < end; ++k)
      for (int64_t first = 0; first < target.width; first += V) {
        const T *at = from + k * depth + first;
        int64_t left = lanes - first;
        prefetch(at + kAcross * depth);
        target.put(first, k, left >= V ? load<V>(at) : loadFirst<V>(at, left < 0 ? 0 : left));
      }
  }

  /// Packs `lanes` lanes by V elements of the reduction dimension from `k` on, by a transpose in
  /// vector registers.
  template <typename T>
  static void packSquare(const T *from, int64_t lane, int64_t depth, int64_t lanes, int64_t first,
                         int64_t k, const Target &target) {
    int64_t count = target.depths - k < V ? target.depths - k : V;
    Vec<V> rows[V];
    if (depth == 1 && lanes == V && count == V) {
#pragma GCC unroll 16
      for (int i = 0; i < V; ++i)
        rows[i] = load<V>(from + i * lane);
      for (int i = 0; i < V; ++i)
        prefetch(reinterpret_cast<const char *>(from + i * lane) + kAhead);
    } else if (depth == 1) {
      for (int i = 0; i < V; ++i)
        rows[i] = i < lanes ? loadFirst<V>(from + i * lane, count) : Vec<V>{};
    } else {
      alignas(64) float values[V][V] = {};
      for (int64_t i = 0; i < lanes; ++i)
        for (int64_t j = 0; j < count; ++j)
          values[i][j] = toFloat(from + i * lane + j * depth);
      for (int i = 0; i < V; ++i)
        rows[i] = load<V>(values[i]);
    }
    transposeSteps<V>(rows);
    if (count == V) {
#pragma GCC unroll 16
      for (int j = 0; j < V; ++j)
        target.put(first, k + j, rows[j]);
    } else {
      for (int j = 0; j < count; ++j)
        target.put(first, k + j, rows[j]);
    }
  }

  template <int C, int R = 1>
  static void blockOfRows(int64_t rows, const products::PanelArguments &panel,
                          const products::Epilogue &epilogue, const products::Prefetch &ahead,
                          int64_t row, int64_t column) {
    if (rows == R)
      return block<R, C>(panel, epilogue, ahead, row, column);
    if constexpr (R < maxRows)
      blockOfRows<C, R + 1>(rows, panel, epilogue, ahead, row, column);
  }

  template <int R, int C>
  [[gnu::noinline]] static void
  block(const products::PanelArguments &panel, const products::Epilogue &epilogue,
        const products::Prefetch &ahead, int64_t row, int64_t column) {
    const auto *right =
        reinterpret_cast<const float *>(panel.right + column / (2 * V) * panel.rightStride);
    fetch<R, C>(panel, epilogue, row, column);
    Vec<V> sums[R][C];
    if (panel.leftRow)
      sumUp<R, C, false>(reinterpret_cast<const float *>(panel.left) + row * panel.leftRow,
                         panel.leftRow, right, panel.steps, ahead, panel.streams, sums);
    else
      sumUp<R, C, true>(
          reinterpret_cast<const float *>(panel.left + row / panel.blockRows * panel.leftStride),
          panel.blockRows, right, panel.steps, ahead, panel.streams, sums);
    finish<R, C>(sums, panel, epilogue, row, column);
  }

  /// Computes the sums of R rows by C vectors of columns. The function is not inlined, so that its
  /// loops can use all registers. If `packed` is set, the left operand's rows are adjacent and its
  /// columns have a stride of `stride` elements. Otherwise its columns are adjacent and its rows
  /// have that stride. Every four steps prefetch a few cache lines of `ahead`, so that no load
  /// stalls.
  template <int R, int C, bool packed>
  [[gnu::noinline]] static void sumUp(const float *a, int64_t stride, const float *b, int64_t depth,
                                      const products::Prefetch &ahead, bool streams,
                                      Vec<V> (&to)[R][C]) {
    const int64_t aRow = packed ? 1 : stride, aColumn = packed ? stride : 1;
    if (R <= kStreamed || streams)
      return sumUpStreamed<R, C>(a, aRow, aColumn, b, depth, to);
    Vec<V> sums[R][C] = {};
    int64_t k = 0;
    if (int64_t left = ahead.end - ahead.begin; left > 0) {
      const int64_t lines = ahead.lines, each = left * 4 / depth + 1;
      const char *next = ahead.from + ahead.begin / lines * ahead.row;
      int64_t line = ahead.begin % lines;
      for (; k + 4 <= depth && left > 0; k += 4, a += 4 * aColumn, b += 8 * V, left -= each) {
        for (int64_t i = 0; i < each; ++i) {
          prefetch<CacheLevel::L2>(next + 64 * line);
          if (++line == lines) {
            line = 0;
            next += ahead.row;
          }
        }
        addProducts<V, R, C>(a, aRow, aColumn, b, 2 * V, 4, sums);
      }
    }
    addProducts<V, R, C>(a, aRow, aColumn, b, 2 * V, depth - k, sums);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c)
        to[r][c] = sums[r][c];
  }

  /// Computes the sums of a block if the kernel is bound by the bandwidth of the right operand,
  /// which it prefetches. With few rows, each row's sums are split into several accumulators, so
  /// that no multiply-add waits for the previous one.
  template <int R, int C>
  DLC_INLINE static void sumUpStreamed(const float *a, int64_t aRow, int64_t aColumn,
                                       const float *b, int64_t depth, Vec<V> (&to)[R][C]) {
    // `count` is the number of accumulators per sum: 4, 2 or 1, so that all accumulators and the
    // operands fit in the 2 V vector registers.
    constexpr int most = 2 * V - 6, count = 4 * R * C <= most ? 4 : 2 * R * C <= most ? 2 : 1;
    Vec<V> chains[count][R][C] = {};
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4, a += 4 * aColumn, b += 8 * V) {
#pragma GCC unroll 8
      for (int line = 0; line < V / 2; ++line)
        prefetch(reinterpret_cast<const char *>(b) + kStreamAhead + 64 * line);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
        addProducts<V, R, C>(a + i * aColumn, aRow, aColumn, b + i * 2 * V, 2 * V, 1,
                             chains[i % count]);
    }
    addProducts<V, R, C>(a, aRow, aColumn, b, 2 * V, depth - k, chains[0]);
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) {
        to[r][c] = chains[0][r][c];
        if constexpr (count > 1)
          to[r][c] += chains[1][r][c];
        if constexpr (count == 4)
          to[r][c] += chains[2][r][c] + chains[3][r][c];
      }
  }

public:
  /// Prefetches the results' old values and the epilogue's operands while the sums are computed.
  template <int R, int C>
  DLC_INLINE static void fetch(const products::PanelArguments &panel,
                               const products::Epilogue &epilogue, int64_t row, int64_t column) {
    fetchRows<R, C>(panel.dst + row * panel.dstRow + column, panel.dstRow);
    fetchOperands<R, C>(panel, epilogue, row, column);
  }
  template <int R, int C> DLC_INLINE static void fetchRows(const float *at, int64_t step) {
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        prefetch(at + r * step + c * V);
  }
  template <int R, int C>
  DLC_INLINE static void fetchOperands(const products::PanelArguments &panel,
                                       const products::Epilogue &epilogue, int64_t row,
                                       int64_t column) {
    for (int p = 0; p < epilogue.count && (panel.isLast || panel.each); ++p) {
      const products::Matrix &operand = epilogue.posts[p].operand;
      if (operand.data && operand.row != 0 && operand.column == 1)
        fetchRows<R, C>(operand.data + (panel.firstRow + row) * operand.row + panel.firstColumn +
                            column,
                        operand.row);
    }
  }

  /// Stores the sums as results, or adds them to the sums in dst. Sums past the panel's last row or
  /// column are dropped. The values of `sums` are not valid afterwards.
  template <int R, int C>
  DLC_INLINE static void finish(Vec<V> (&sums)[R][C], const products::PanelArguments &panel,
                                const products::Epilogue &epilogue, int64_t row, int64_t column) {
    const int64_t rows = panel.rows - row < R ? panel.rows - row : R;
    const bool adds = !panel.isFirst && !panel.each, ends = panel.isLast || panel.each;
    const bool sumAlone = epilogue.count == 1 && epilogue.posts[0].kind == PostOpKind::Sum;
    if (rows == R && panel.columns - column >= C * V &&
        (!ends || epilogue.count == 0 || sumAlone)) {
      // Without activations and binary operands, every result is f · sum + g · dst + bias.
      const float f = ends ? epilogue.scale : 1;
      const float g = adds ? f : ends && sumAlone ? epilogue.posts[0].alpha : 0;
      Vec<V> bias[C];
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c)
        bias[c] = ends && epilogue.bias
                      ? load<V>(epilogue.bias + panel.firstColumn + column + c * V)
                      : Vec<V>{};
      float *dst = panel.dst + row * panel.dstRow + column;
      auto write = [&](const auto &of) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
          for (int c = 0; c < C; ++c) {
            float *at = dst + r * panel.dstRow + c * V;
            store<V>(at, of(sums[r][c] * f + bias[c], at));
          }
      };
      if (g == 0)
        write([](Vec<V> v, const float *) { return v; });
      else
        write([=](Vec<V> v, const float *at) { return v + load<V>(at) * g; });
      return;
    }
    auto *all = reinterpret_cast<float *>(sums);
    for (int c = 0; c < C && column + c * V < panel.columns; ++c) {
      const int64_t at = column + c * V, left = panel.columns - at;
      EpilogueApplier<V>::finish({all + c * V, C * V, rows, left < V ? left : V},
                                 {panel.dst + row * panel.dstRow + at, panel.dstRow,
                                  panel.firstRow + row, panel.firstColumn + at},
                                 ends ? &epilogue : nullptr, adds);
    }
  }
};

} // namespace
} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_PRODUCTKERNELS_H

//===- Simd.h - products of f32 in vectors of any length -------------------------===//
//
// For the files compiled for one processor alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_SIMD_H
#define DLC_RUNTIME_LIBRARY_VECTORS_SIMD_H

#include "runtime/library/vectors/Block.h"
#include "runtime/library/vectors/Functions.h"
#include "runtime/library/vectors/Kernels.h"

namespace dlc::vectors {
namespace {

using products::Post;
using products::PostKind;

/// What comes next in the same row of memory, so far ahead in bytes.
constexpr int64_t kAhead = 256;
/// So many rows of memory are walked along together.
constexpr int64_t kAcross = 16;

template <int V, int mostRows> struct Simd {
  /// Where a packed block's lanes of one depth go, from `first` on.
  struct Target {
    float *to;
    int64_t width, depths;

    /// What is behind the block's width is written over by what comes next, but for the last.
    DLC_INLINE void put(int64_t first, int64_t depth, Vec<V> v) const {
      float *at = to + depth * width + first;
      if (first + V <= width || depth + 1 < depths)
        store<V>(at, v);
      else
        storeFirst<V>(at, width - first, v);
    }
  };

  static void pack(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                   int64_t width, float *to) {
    const int64_t block = width * depths;
    if (lane == 1) {
      for (int64_t some = 0; some < depths; some += kAcross)
        for (int64_t begin = 0; begin < lanes; begin += width)
          packAcross(from + begin, depth, lanes - begin, some,
                     {to + begin / width * block, width, depths});
      return;
    }
    for (int64_t begin = 0; begin < lanes; begin += width) {
      Target target{to + begin / width * block, width, depths};
      for (int64_t first = 0; first < width; first += V) {
        int64_t left = lanes - begin - first, most = width - first < V ? width - first : V;
        const float *at = from + (begin + first) * lane;
        for (int64_t k = 0; k < depths; k += V, at += V * depth)
          packSquare(at, lane, depth, left < most ? left : most, first, k, target);
      }
    }
  }

  static void multiply(const products::Panel &panel, const products::Epilogue &epilogue) {
    for (int64_t row = 0; row < panel.rows; row += panel.blockRows) {
      int64_t rows = panel.rows - row < panel.blockRows ? panel.rows - row : panel.blockRows;
      for (int64_t column = 0; column < panel.columns; column += 2 * V)
        if (panel.columns - column > V)
          blockOfRows<2>(rows, panel, epilogue, row, column);
        else
          blockOfRows<1>(rows, panel, epilogue, row, column);
    }
  }

  static const Kernels table;

private:
  /// Some elements of depth from `k` on of a block whose lanes lie side by side.
  static void packAcross(const float *from, int64_t depth, int64_t lanes, int64_t k,
                         const Target &target) {
    const int64_t end = target.depths - k < kAcross ? target.depths : k + kAcross;
    for (; k < end; ++k)
      for (int64_t first = 0; first < target.width; first += V) {
        const float *at = from + k * depth + first;
        int64_t left = lanes - first;
        _mm_prefetch(reinterpret_cast<const char *>(at) + kAhead, _MM_HINT_T0);
        target.put(first, k, left >= V ? load<V>(at) : loadFirst<V>(at, left < 0 ? 0 : left));
      }
  }

  /// `lanes` lanes and V elements of depth from `k` on, that lie side by side along the depth.
  static void packSquare(const float *from, int64_t lane, int64_t depth, int64_t lanes,
                         int64_t first, int64_t k, const Target &target) {
    int64_t count = target.depths - k < V ? target.depths - k : V;
    Vec<V> rows[V];
    if (depth == 1 && lanes == V && count == V) {
#pragma GCC unroll 16
      for (int i = 0; i < V; ++i)
        rows[i] = load<V>(from + i * lane);
      for (int i = 0; i < V; ++i)
        _mm_prefetch(reinterpret_cast<const char *>(from + i * lane) + kAhead, _MM_HINT_T0);
    } else if (depth == 1) {
      for (int i = 0; i < V; ++i)
        rows[i] = i < lanes ? loadFirst<V>(from + i * lane, count) : Vec<V>{};
    } else {
      alignas(64) float values[V][V] = {};
      for (int64_t i = 0; i < lanes; ++i)
        for (int64_t j = 0; j < count; ++j)
          values[i][j] = from[i * lane + j * depth];
      for (int i = 0; i < V; ++i)
        rows[i] = load<V>(values[i]);
    }
    winograd::transposeSteps<V>(rows);
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
  static void blockOfRows(int64_t rows, const products::Panel &panel,
                          const products::Epilogue &epilogue, int64_t row, int64_t column) {
    if (rows == R)
      return block<R, C>(panel, epilogue, row, column);
    if constexpr (R < mostRows)
      blockOfRows<C, R + 1>(rows, panel, epilogue, row, column);
  }

  template <int R, int C>
  [[gnu::noinline]] static void block(const products::Panel &panel,
                                      const products::Epilogue &epilogue, int64_t row,
                                      int64_t column) {
    const auto *right =
        reinterpret_cast<const float *>(panel.right + column / (2 * V) * panel.rightStride);
    float *dst = panel.dst + row * panel.dstRow + column;
    const bool adds = !panel.isFirst && !panel.each, ends = panel.isLast || panel.each;
    const bool bare = epilogue.count == 0 && !epilogue.bias && epilogue.scale == 1;
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        _mm_prefetch(reinterpret_cast<const char *>(dst + r * panel.dstRow + c * V), _MM_HINT_T0);
    Vec<V> sums[R][C] = {};
    if (panel.leftRow)
      addProducts<V, R, C>(reinterpret_cast<const float *>(panel.left) + row * panel.leftRow,
                           panel.leftRow, 1, right, 2 * V, panel.steps, sums);
    else
      addProducts<V, R, C>(
          reinterpret_cast<const float *>(panel.left + row / panel.blockRows * panel.leftStride), 1,
          panel.blockRows, right, 2 * V, panel.steps, sums);
    if (panel.columns - column >= C * V && (!ends || bare)) {
      for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
          float *at = dst + r * panel.dstRow + c * V;
          store<V>(at, adds ? load<V>(at) + sums[r][c] : sums[r][c]);
        }
      return;
    }
    alignas(64) float kept[R][C * V];
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        store<V>(kept[r] + c * V, sums[r][c]);
    for (int c = 0; c < C; ++c)
      end(kept[0] + c * V, C * V, R, panel, ends ? &epilogue : nullptr, adds, row, column + c * V);
  }

  /// `rows` rows of V sums become results, or are added to the sums that are there.
  [[gnu::noinline]] static void end(const float *sums, int64_t sumRow, int64_t rows,
                                    const products::Panel &panel,
                                    const products::Epilogue *epilogue, bool adds, int64_t row,
                                    int64_t column) {
    int64_t count = panel.columns - column < V ? panel.columns - column : V;
    int64_t inAll = panel.firstColumn + column;
    Vec<V> bias =
        epilogue && epilogue->bias ? loadFirst<V>(epilogue->bias + inAll, count) : Vec<V>{};
    for (int64_t r = 0; r < rows; ++r) {
      float *at = panel.dst + (row + r) * panel.dstRow + column;
      Vec<V> v = load<V>(sums + r * sumRow);
      if (adds)
        v += loadFirst<V>(at, count);
      if (epilogue) {
        v = v * epilogue->scale + bias;
        for (int p = 0; p < epilogue->count; ++p)
          v = applied(epilogue->posts[p], v, at, panel.firstRow + row + r, inAll, count);
      }
      storeFirst<V>(at, count, v);
    }
  }

  static Vec<V> applied(const Post &post, Vec<V> v, const float *old, int64_t row, int64_t column,
                        int64_t count) {
    auto operand = [&]() -> Vec<V> {
      const float *at = post.operand.data + row * post.operand.row + column * post.operand.column;
      return post.operand.column == 0 ? splat<V>(*at) : loadFirst<V>(at, count);
    };
    switch (post.kind) {
    case PostKind::Relu:
      return v < 0.0f ? v * post.alpha : v;
    case PostKind::Clip:
      return between<V>(post.alpha, v, post.beta);
    case PostKind::Linear:
      return v * post.alpha + post.beta;
    case PostKind::Logistic:
      return logistic<V>(v);
    case PostKind::Tanh:
      return tanhOf<V>(v);
    case PostKind::GeluErf:
      return geluErf<V>(v);
    case PostKind::GeluTanh:
      return geluTanh<V>(v);
    case PostKind::Square:
      return v * v;
    case PostKind::Add:
      return v + operand();
    case PostKind::Mul:
      return v * operand();
    case PostKind::Sub:
      return v - operand();
    case PostKind::LogisticGradient: {
      Vec<V> y = operand();
      return v * (y * (1 - y));
    }
    case PostKind::TanhGradient: {
      Vec<V> y = operand();
      return v * (1 - y * y);
    }
    case PostKind::ReluGradient:
      return operand() > 0.0f ? v : Vec<V>{};
    case PostKind::Sum:
      return v + post.alpha * loadFirst<V>(old, count);
    }
    return v;
  }
};

template <int V, int mostRows>
const Kernels Simd<V, mostRows>::table = {V, mostRows, pack, multiply};

} // namespace
} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_SIMD_H

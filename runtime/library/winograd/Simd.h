//===- Simd.h - the kernels over vectors of V lanes -----------------------------===//
//
// Included by one file for each processor, which sets kMaxRows and kMaxRowsOne: how many tiles'
// sums fit the registers with two vectors of results' channels, and with one.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_SIMD_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_SIMD_H

#include "runtime/library/winograd/Kernels.h"
#include "runtime/library/winograd/Lanes.h"
#include "runtime/library/winograd/Sums.h"

namespace dlc::winograd {
namespace {

/// Products that a sum takes in a register before it goes to memory: bounds the rounding error.
constexpr int64_t kRun = 64;

DLC_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
DLC_INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/// Where a tile lies.
struct TileWalk {
  const Shape &shape;
  int64_t image, row, col;

  TileWalk(const Shape &shape, int64_t tile) : shape(shape) {
    int64_t each = shape.tileRows * shape.tileCols;
    image = tile / each;
    row = tile % each / shape.tileCols;
    col = tile % shape.tileCols;
  }
  DLC_INLINE void next() {
    if (++col < shape.tileCols)
      return;
    col = 0;
    if (++row < shape.tileRows)
      return;
    row = 0;
    ++image;
  }
};

/// How an image lies: elements from one pixel, row, block of channels and image to the next.
template <int V> struct Pitches {
  int64_t pixel, row, block, image;

  Pitches(const Shape &shape, int64_t blocks, int64_t height, int64_t width)
      : pixel(shape.channelsLast ? blocks * V : V), row(width * pixel),
        block(shape.channelsLast ? V : height * row), image(blocks * height * width * V) {}
};

/// `side` x `side` vectors of an image from (top, left) on, zeros outside of it: where they lie,
/// and from row to row.
template <int V, int side> struct Window {
  const float *at;
  int64_t row, pixel;

  DLC_INLINE Window(const float *plane, const Pitches<V> &pitches, int64_t height, int64_t width,
                    int64_t top, int64_t left, float *copy) {
    if (top >= 0 && left >= 0 && top + side <= height && left + side <= width) {
      at = plane + top * pitches.row + left * pitches.pixel;
      row = pitches.row;
      pixel = pitches.pixel;
      return;
    }
    at = copy;
    row = side * V;
    pixel = V;
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        int64_t y = top + i, x = left + j;
        bool inside = y >= 0 && x >= 0 && y < height && x < width;
        store<V>(copy + (i * side + j) * V,
                 inside ? load<V>(plane + y * pitches.row + x * pitches.pixel) : Vec<V>{});
      }
  }
};

/// visit(tile, t, block) for all, in the order in which images lie.
template <typename Visit>
DLC_INLINE void forTiles(const Shape &shape, const TileData &data, int64_t begin, int64_t end,
                         const Visit &visit) {
  if (shape.channelsLast) {
    TileWalk tile(shape, data.first);
    for (int64_t t = 0; t < data.count; ++t, tile.next())
      for (int64_t block = begin; block < end; ++block)
        visit(tile, t, block);
    return;
  }
  for (int64_t block = begin; block < end; ++block) {
    TileWalk tile(shape, data.first);
    for (int64_t t = 0; t < data.count; ++t, tile.next())
      visit(tile, t, block);
  }
}

/// Sums over channels in blocks of V: the heart of it all.
struct Multiplication {
  const float *data;
  int64_t dataBlock;
  const float *weights;
  int64_t panel;
  /// Weights that are wanted next, laid out alike.
  const float *ahead;
  float *to;
  int64_t toBlock;
  int64_t blocks;
  bool add;
};

template <int V, int tiles, int wide> void multiply(const Multiplication &task) {
  Vec<V> sums[tiles][wide] = {};
  const float *data = task.data, *weights = task.weights, *ahead = task.ahead;
  int64_t panel = task.panel;
  for (int64_t block = 0; block < task.blocks; ++block, data += task.dataBlock)
    for (int c = 0; c < V; ++c, weights += V, ahead += V) {
      Vec<V> w[wide];
#pragma GCC unroll 2
      for (int o = 0; o < wide; ++o) {
        w[o] = load<V>(weights + o * panel);
        __builtin_prefetch(ahead + o * panel);
      }
#pragma GCC unroll 28
      for (int t = 0; t < tiles; ++t) {
        Vec<V> x = splat<V>(data[t * V + c]);
#pragma GCC unroll 2
        for (int o = 0; o < wide; ++o)
          sums[t][o] += x * w[o];
      }
    }
#pragma GCC unroll 28
  for (int t = 0; t < tiles; ++t)
#pragma GCC unroll 2
    for (int o = 0; o < wide; ++o) {
      float *at = task.to + o * task.toBlock + t * V;
      store<V>(at, task.add ? load<V>(at) + sums[t][o] : sums[t][o]);
    }
}

using Multiply = void (*)(const Multiplication &);

template <int V, int wide, int most> struct MultiplyTable {
  Multiply of[most + 1];
  template <int... I>
  constexpr explicit MultiplyTable(Indices<I...>) : of{nullptr, multiply<V, I + 1, wide>...} {}
  constexpr MultiplyTable() : MultiplyTable(Count<most>()) {}
};

/// sums[c][o] over `count` tiles.
template <int V, int high, int wide>
void multiplyTurned(const float *data, const float *gradient, int64_t gradientBlock, float *to,
                    int64_t panel, int64_t count) {
  Vec<V> sums[high][wide] = {};
  for (int64_t t = 0; t < count; ++t, data += V, gradient += V) {
    Vec<V> g[wide];
#pragma GCC unroll 2
    for (int o = 0; o < wide; ++o)
      g[o] = load<V>(gradient + o * gradientBlock);
#pragma GCC unroll 16
    for (int c = 0; c < high; ++c) {
      Vec<V> x = splat<V>(data[c]);
#pragma GCC unroll 2
      for (int o = 0; o < wide; ++o)
        sums[c][o] += x * g[o];
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < high; ++c)
#pragma GCC unroll 2
    for (int o = 0; o < wide; ++o) {
      float *at = to + o * panel + c * V;
      store<V>(at, load<V>(at) + sums[c][o]);
    }
}

template <int V, int M, int R> struct Simd {
  using Matrices = CookToom<M, R>;
  static constexpr int A = Matrices::A, points = A * A, taps = R * R;

  template <typename Matrix, int side>
  static void transformTiles(const Shape &shape, const float *image, const Pitches<V> &pitches,
                             int64_t height, int64_t width, int64_t top, int64_t left,
                             const TileData &to, int64_t begin, int64_t end) {
    float copy[side * side * V];
    forTiles(shape, to, begin, end, [&](const TileWalk &tile, int64_t t, int64_t block) {
      Window<V, side> window(image + tile.image * pitches.image + block * pitches.block, pitches,
                             height, width, tile.row * M - top, tile.col * M - left, copy);
      const float *from = window.at;
      int64_t row = window.row, pixel = window.pixel, point = to.point;
      float *target = to.at + (block * to.count + t) * V;
      sandwich<Matrix, V>(
          [=](int i, int j) { return load<V>(from + i * row + j * pixel); },
          [=](int i, int j, Vec<V> v) { store<V>(target + (i * A + j) * point, v); });
    });
  }

  static void data(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                   int64_t end) {
    transformTiles<typename Matrices::Bt, A>(
        shape, image, {shape, shape.inBlocks, shape.inHeight, shape.inWidth}, shape.inHeight,
        shape.inWidth, shape.top, shape.left, to, begin, end);
  }

  static void gradient(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                       int64_t end) {
    transformTiles<typename Matrices::Am, M>(
        shape, image, {shape, shape.outBlocks, shape.outHeight, shape.outWidth}, shape.outHeight,
        shape.outWidth, 0, 0, to, begin, end);
  }

  template <int wide, int most> static void multiplyTiles(Multiplication task, int64_t count) {
    static constexpr MultiplyTable<V, wide, most> table;
    // Groups as even as can be.
    int64_t groups = (count + most - 1) / most;
    for (int64_t g = 0, at = 0; g < groups; ++g) {
      int64_t size = (count - at) / (groups - g);
      table.of[size](task);
      task.data += size * V;
      task.to += size * V;
      task.ahead = task.weights;
      at += size;
    }
  }

  static void product(const Shape &shape, const TileData &data, const PointWeights &weights,
                      const TileData &to, int64_t begin, int64_t end) {
    int64_t channels = shape.inBlocks, run = kRun / V;
    for (int p = 0; p < points; ++p)
      for (int64_t c = 0; c < channels; c += run) {
        const float *panels = weights.at + p * weights.point + c * V * V;
        // After the last results' blocks come the first ones of the next channels, or of the next
        // point.
        const float *after = c + run < channels ? panels + run * V * V
                             : p + 1 < points   ? weights.at + (p + 1) * weights.point
                                                : weights.at;
        for (int64_t o = begin; o < end;) {
          int64_t next = o + (o + 1 < end ? 2 : 1);
          const float *ahead =
              next < end ? panels + next * weights.panel : after + begin * weights.panel;
          Multiplication task{data.at + p * data.point + c * data.count * V,
                              data.count * V,
                              panels + o * weights.panel,
                              weights.panel,
                              ahead,
                              to.at + p * to.point + (o - begin) * to.count * V,
                              to.count * V,
                              least(run, channels - c),
                              c > 0};
          if (next == o + 2)
            multiplyTiles<2, kMaxRows>(task, data.count);
          else
            multiplyTiles<1, kMaxRowsOne>(task, data.count);
          o = next;
        }
      }
  }

  static void result(const Shape &shape, const TileData &from, float *image, int64_t begin,
                     int64_t end, const float *bias, const Step *steps, int stepCount,
                     float *sums) {
    Pitches<V> pitches(shape, shape.outBlocks, shape.outHeight, shape.outWidth);
    forTiles(shape, from, begin, end, [&](const TileWalk &tile, int64_t t, int64_t block) {
      const float *source = from.at + ((block - begin) * from.count + t) * V;
      int64_t point = from.point, row = pitches.row, pixel = pitches.pixel;
      Vec<V> start = bias ? load<V>(bias + block * V) : Vec<V>{};
      Vec<V> y[M][M];
      sandwich<typename Matrices::At, V>(
          [=](int i, int j) { return load<V>(source + (i * A + j) * point); },
          [&](int i, int j, Vec<V> v) { y[i][j] = v + start; });
      int64_t top = tile.row * M, left = tile.col * M;
      int64_t offset =
          tile.image * pitches.image + block * pitches.block + top * row + left * pixel;
      int rows = int(least(M, shape.outHeight - top)), cols = int(least(M, shape.outWidth - left));
      for (int s = 0; s < stepCount; ++s)
        take(steps[s], y, block, offset, row, pixel, rows, cols);
      if (sums)
        sumUp<V, M>(y, rows, cols, t == 0, sums + block * kSums * V);
      float *target = image + offset;
      if (rows == M && cols == M) {
        for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
          for (int j = 0; j < M; ++j)
            store<V>(target + i * row + j * pixel, y[i][j]);
        return;
      }
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j)
          store<V>(target + i * row + j * pixel, y[i][j]);
    });
  }

  template <typename Change>
  DLC_INLINE static void change(Vec<V> (&y)[M][M], const Change &change) {
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < M; ++j)
        y[i][j] = change(y[i][j]);
  }

  static void take(const Step &step, Vec<V> (&y)[M][M], int64_t block, int64_t offset, int64_t row,
                   int64_t pixel, int rows, int cols) {
    Vec<V> alpha = splat<V>(step.alpha), beta = splat<V>(step.beta), zero{};
    switch (step.kind) {
    case Step::Relu:
      // NaN stays NaN.
      if (step.alpha == 0)
        change(y, [=](Vec<V> v) { return v <= zero ? zero : v; });
      else
        change(y, [=](Vec<V> v) { return v <= zero ? v * alpha : v; });
      break;
    case Step::Clip:
      change(y, [=](Vec<V> v) {
        Vec<V> low = v < alpha ? alpha : v;
        return low > beta ? beta : low;
      });
      break;
    case Step::Linear:
      change(y, [=](Vec<V> v) { return v * alpha + beta; });
      break;
    case Step::AddTensor:
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j)
          y[i][j] += load<V>(step.operand + offset + i * row + j * pixel);
      break;
    case Step::AddChannels: {
      Vec<V> operand = load<V>(step.operand + block * V);
      change(y, [=](Vec<V> v) { return v + operand; });
      break;
    }
    case Step::MultiplyChannels: {
      Vec<V> operand = load<V>(step.operand + block * V);
      change(y, [=](Vec<V> v) { return v * operand; });
      break;
    }
    }
  }

  static void weights(const Shape &shape, const float *plain, bool turned, const PointWeights &to,
                      int64_t begin, int64_t end) {
    int64_t channels = shape.inBlocks * V, results = shape.outBlocks * V;
    float filters[taps * V * V]; // [channel][tap][V]
    for (int64_t block = begin; block < end; ++block)
      for (int64_t c = 0; c < shape.inBlocks; ++c) {
        if (!turned)
          for (int tap = 0; tap < taps; ++tap)
            transpose<V>(plain + block * V * channels * taps + c * V * taps + tap * V,
                         channels * taps, filters + tap * V * V, V);
        for (int i = 0; i < V; ++i) {
          float *target = to.at + block * to.panel + (c * V + i) * V;
          const float *filter =
              turned ? plain + ((c * V + i) * results + block * V) * taps : filters + i * taps * V;
          int64_t point = to.point;
          auto put = [=](int y, int x, Vec<V> v) { store<V>(target + (y * A + x) * point, v); };
          if (turned)
            sandwich<typename Matrices::G, V>(
                [=](int y, int x) { return gather<V, taps>(filter + taps - 1 - y * R - x); }, put);
          else
            sandwich<typename Matrices::G, V>(
                [=](int y, int x) { return load<V>(filter + (y * R + x) * V); }, put);
        }
      }
  }

  static void weightProduct(const Shape &shape, const TileData &data, const TileData &gradient,
                            const PointWeights &to, int64_t begin, int64_t end) {
    constexpr int high = V / 2;
    for (int64_t t = 0; t < data.count; t += kRun) {
      int64_t count = least(kRun, data.count - t);
      for (int64_t pair = begin; pair < end;) {
        int64_t p = pair / shape.outBlocks, block = pair % shape.outBlocks;
        bool two = pair + 1 < end && block + 1 < shape.outBlocks;
        const float *g = gradient.at + p * gradient.point + (block * gradient.count + t) * V;
        float *panel = to.at + p * to.point + block * to.panel;
        for (int64_t c = 0; c < shape.inBlocks; ++c, panel += V * V) {
          const float *x = data.at + p * data.point + (c * data.count + t) * V;
          for (int half = 0; half < 2; ++half)
            if (two)
              multiplyTurned<V, high, 2>(x + half * high, g, gradient.count * V,
                                         panel + half * high * V, to.panel, count);
            else
              multiplyTurned<V, high, 1>(x + half * high, g, gradient.count * V,
                                         panel + half * high * V, to.panel, count);
        }
        pair += two ? 2 : 1;
      }
    }
  }

  static void weightResult(const Shape &shape, const PointWeights &from, int parts, int64_t between,
                           float *plain, int64_t begin, int64_t end) {
    int64_t channels = shape.inBlocks * V;
    float filters[taps * V * V]; // [channel][tap][V]
    for (int64_t pair = begin; pair < end; ++pair) {
      int64_t block = pair / shape.inBlocks, c = pair % shape.inBlocks;
      for (int i = 0; i < V; ++i) {
        const float *source = from.at + block * from.panel + (c * V + i) * V;
        int64_t point = from.point;
        float *filter = filters + i * taps * V;
        sandwich<typename Matrices::Gt, V>(
            [=](int y, int x) {
              Vec<V> sum = load<V>(source + (y * A + x) * point);
              for (int part = 1; part < parts; ++part)
                sum += load<V>(source + (y * A + x) * point + part * between);
              return sum;
            },
            [=](int y, int x, Vec<V> v) { store<V>(filter + (y * R + x) * V, v); });
      }
      for (int tap = 0; tap < taps; ++tap)
        transpose<V>(filters + tap * V * V, V,
                     plain + block * V * channels * taps + c * V * taps + tap * V, channels * taps);
    }
  }

  static constexpr Kernels kernels = {
      V, M, R, points, data, gradient, product, result, weights, weightProduct, weightResult};
};

template <int V> const Kernels *kernelsFor(int outputs, int window) {
  if (window == 3)
    return outputs == 2   ? &Simd<V, 2, 3>::kernels
           : outputs == 4 ? &Simd<V, 4, 3>::kernels
                          : nullptr;
  if (window == 5)
    return outputs == 2   ? &Simd<V, 2, 5>::kernels
           : outputs == 4 ? &Simd<V, 4, 5>::kernels
                          : nullptr;
  return nullptr;
}

} // namespace
} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_SIMD_H

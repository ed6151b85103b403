//===- WinogradKernels.h - Winograd convolution kernels for vectors of V lanes -===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_WINOGRADKERNELS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_WINOGRADKERNELS_H

#include "runtime/library/simd/Multiply.h"
#include "runtime/library/simd/Steps.h"
#include "runtime/library/winograd/Kernels.h"
#include "runtime/library/winograd/Matrices.h"
#include "runtime/library/winograd/Sums.h"

namespace dlc::winograd {
namespace {

/// Maximum number of products that are summed in registers before the sum is stored. It bounds the
/// rounding error.
constexpr int64_t kRun = 64;

/// Position of a tile in the batch: image, row and column.
struct TilePosition {
  const Shape &shape;
  int64_t image, row, col;

  TilePosition(const Shape &shape, int64_t tile) : shape(shape) {
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

/// Address and strides of `side` x `side` vectors of an image from (top, left) on. Vectors that
/// extend outside of the image are copied with padding of 0.
template <int V, int side> struct Patch {
  const float *at;
  int64_t row, pixel;

  DLC_INLINE Patch(const float *plane, const Pitches<V> &pitches, int64_t height, int64_t width,
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

/// Calls visit(tile, t, block) for all tiles and channel blocks, in the order in which the image is
/// stored.
template <typename Visit>
DLC_INLINE void forTiles(const Shape &shape, const TileData &data, int64_t begin, int64_t end,
                         const Visit &visit) {
  if (shape.channelsLast) {
    TilePosition tile(shape, data.first);
    for (int64_t t = 0; t < data.count; ++t, tile.next())
      for (int64_t block = begin; block < end; ++block)
        visit(tile, t, block);
    return;
  }
  for (int64_t block = begin; block < end; ++block) {
    TilePosition tile(shape, data.first);
    for (int64_t t = 0; t < data.count; ++t, tile.next())
      visit(tile, t, block);
  }
}

/// Weights of a block of output channels at one point, and the stride between two input channels.
struct PointWeightPanel {
  float *at;
  int64_t channel;
};

template <int V>
DLC_INLINE PointWeightPanel panelOf(const Shape &shape, const PointWeights &weights, int64_t p,
                                    int64_t block) {
  int64_t odd = block % 2, wide = block - odd + 1 < shape.outBlocks ? 2 : 1;
  return {weights.at + block / 2 * weights.pair + p * weights.point + odd * V, wide * V};
}

/// Adds the products of data and gradient, summed over `count` tiles, to the weight gradient
/// to[c][o].
template <int V, int high, int wide>
void multiplyTransposed(const float *data, const float *gradient, int64_t gradientBlock, float *to,
                        int64_t channel, int64_t count) {
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
      float *at = to + o * V + c * channel;
      store<V>(at, load<V>(at) + sums[c][o]);
    }
}

template <int V, int M, int R> struct WinogradKernels {
  using Matrices = CookToom<M, R>;
  static constexpr int A = Matrices::A, points = A * A, taps = R * R;

  template <typename Matrix, int side>
  static void transformTiles(const Shape &shape, const float *image, const Pitches<V> &pitches,
                             int64_t height, int64_t width, int64_t top, int64_t left,
                             const TileData &to, int64_t begin, int64_t end) {
    float copy[side * side * V];
    forTiles(shape, to, begin, end, [&](const TilePosition &tile, int64_t t, int64_t block) {
      Patch<V, side> window(image + tile.image * pitches.image + block * pitches.block, pitches,
                            height, width, tile.row * M - top, tile.col * M - left, copy);
      const float *from = window.at;
      int64_t row = window.row, pixel = window.pixel, point = to.point;
      float *target = to.at + (block * to.count + t) * V;
      transformTile<Matrix, V>(
          [=](int i, int j) { return load<V>(from + i * row + j * pixel); },
          [=](int i, int j, Vec<V> v) { store<V>(target + (i * A + j) * point, v); });
    });
  }

  static void data(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                   int64_t end) {
    transformTiles<typename Matrices::Bt, A>(
        shape, image, {shape.channelsLast, shape.inBlocks, shape.inHeight, shape.inWidth},
        shape.inHeight, shape.inWidth, shape.top, shape.left, to, begin, end);
  }

  static void gradient(const Shape &shape, const float *image, const TileData &to, int64_t begin,
                       int64_t end) {
    transformTiles<typename Matrices::Am, M>(
        shape, image, {shape.channelsLast, shape.outBlocks, shape.outHeight, shape.outWidth},
        shape.outHeight, shape.outWidth, 0, 0, to, begin, end);
  }

  static void product(const Shape &shape, const TileData &data, const PointWeights &weights,
                      const TileData &to, int64_t begin, int64_t end) {
    int64_t channels = shape.inBlocks, run = kRun / V;
    for (int p = 0; p < points; ++p)
      for (int64_t c = 0; c < channels; c += run) {
        auto panel = [&](int64_t p, int64_t c, int64_t block) {
          PointWeightPanel all = panelOf<V>(shape, weights, p, block);
          return all.at + c * V * all.channel;
        };
        for (int64_t o = begin; o < end; o += 2) {
          // Prefetch the next output blocks. After the last one, prefetch the first output blocks
          // of the next channels or of the next point, and finally those of the next call.
          const float *ahead = o + 2 < end             ? panel(p, c, o + 2)
                               : c + run < channels    ? panel(p, c + run, begin)
                               : p + 1 < points        ? panel(p + 1, 0, begin)
                               : end < shape.outBlocks ? panel(0, 0, end)
                                                       : panel(0, 0, begin);
          Multiplication task{data.at + p * data.point + c * data.count * V,
                              data.count * V,
                              panel(p, c, o),
                              to.at + p * to.point + (o - begin) * to.count * V,
                              to.count * V,
                              least(run, channels - c),
                              c > 0,
                              ahead};
          multiplyTiles<V>(o + 1 < end, task, data.count);
        }
      }
  }

  static void result(const Shape &shape, const TileData &from, float *image, int64_t begin,
                     int64_t end, const float *bias, const EpilogueStep *steps, int stepCount,
                     float *sums) {
    Pitches<V> pitches(shape.channelsLast, shape.outBlocks, shape.outHeight, shape.outWidth);
    forTiles(shape, from, begin, end, [&](const TilePosition &tile, int64_t t, int64_t block) {
      const float *source = from.at + ((block - begin) * from.count + t) * V;
      int64_t point = from.point, row = pitches.row, pixel = pitches.pixel;
      Vec<V> start = bias ? load<V>(bias + block * V) : Vec<V>{};
      Vec<V> y[M][M];
      transformTile<typename Matrices::At, V>(
          [=](int i, int j) { return load<V>(source + (i * A + j) * point); },
          [&](int i, int j, Vec<V> v) { y[i][j] = v + start; });
      int64_t top = tile.row * M, left = tile.col * M;
      int64_t offset =
          tile.image * pitches.image + block * pitches.block + top * row + left * pixel;
      int rows = int(least(M, shape.outHeight - top)), cols = int(least(M, shape.outWidth - left));
      for (int s = 0; s < stepCount; ++s)
        take<V>(steps[s], y, block, offset, row, pixel, rows, cols);
      if (sums)
        accumulateChannelSums<V, M>(y, rows, cols, t == 0, sums + block * kSums * V);
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

  static void weights(const Shape &shape, const float *plain, bool transposed,
                      const PointWeights &to, int64_t begin, int64_t end) {
    int64_t channels = shape.inBlocks * V, results = shape.outBlocks * V;
    float filters[taps * V * V]; // [channel][tap][V]
    for (int64_t pair = begin; pair < end; pair += 2)
      for (int64_t at = 0; at < 2 * shape.inBlocks; ++at) {
        // Alternate between both blocks of a pair, whose weights are interleaved.
        int64_t c = at / 2, block = pair + at % 2;
        if (block == end)
          continue;
        PointWeightPanel panel = panelOf<V>(shape, to, 0, block);
        int64_t point = to.point;
        if (!transposed)
          for (int tap = 0; tap < taps; ++tap)
            transpose<V>(plain + block * V * channels * taps + c * V * taps + tap * V,
                         channels * taps, filters + tap * V * V, V);
        for (int i = 0; i < V; ++i) {
          float *target = panel.at + (c * V + i) * panel.channel;
          const float *filter = transposed ? plain + ((c * V + i) * results + block * V) * taps
                                           : filters + i * taps * V;
          auto put = [=](int y, int x, Vec<V> v) { store<V>(target + (y * A + x) * point, v); };
          if (transposed)
            transformTile<typename Matrices::G, V>(
                [=](int y, int x) { return gather<V, taps>(filter + taps - 1 - y * R - x); }, put);
          else
            transformTile<typename Matrices::G, V>(
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
        bool two = pair + 1 < end && block % 2 == 0 && block + 1 < shape.outBlocks;
        const float *g = gradient.at + p * gradient.point + (block * gradient.count + t) * V;
        PointWeightPanel panel = panelOf<V>(shape, to, p, block);
        for (int64_t c = 0; c < shape.inBlocks; ++c) {
          const float *x = data.at + p * data.point + (c * data.count + t) * V;
          for (int half = 0; half < 2; ++half, panel.at += high * panel.channel)
            if (two)
              multiplyTransposed<V, high, 2>(x + half * high, g, gradient.count * V, panel.at,
                                             panel.channel, count);
            else
              multiplyTransposed<V, high, 1>(x + half * high, g, gradient.count * V, panel.at,
                                             panel.channel, count);
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
      // Alternate between both blocks of a pair of output blocks, whose weights are interleaved.
      int64_t first = pair / (2 * shape.inBlocks) * 2, wide = first + 1 < shape.outBlocks ? 2 : 1;
      int64_t rest = pair - first * shape.inBlocks, c = rest / wide, block = first + rest % wide;
      PointWeightPanel panel = panelOf<V>(shape, from, 0, block);
      int64_t point = from.point;
      for (int i = 0; i < V; ++i) {
        const float *source = panel.at + (c * V + i) * panel.channel;
        float *filter = filters + i * taps * V;
        transformTile<typename Matrices::Gt, V>(
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

template <int V> const Kernels *selectKernels(int outputs, int window) {
  if (window == 3)
    return outputs == 2   ? &WinogradKernels<V, 2, 3>::kernels
           : outputs == 4 ? &WinogradKernels<V, 4, 3>::kernels
                          : nullptr;
  if (window == 5)
    return outputs == 2   ? &WinogradKernels<V, 2, 5>::kernels
           : outputs == 4 ? &WinogradKernels<V, 4, 5>::kernels
                          : nullptr;
  return nullptr;
}

} // namespace
} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_WINOGRADKERNELS_H

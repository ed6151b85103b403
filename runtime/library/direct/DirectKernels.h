//===- DirectKernels.h - direct convolution kernels for vectors of V lanes -===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_DIRECTKERNELS_H
#define DLC_RUNTIME_LIBRARY_DIRECT_DIRECTKERNELS_H

#include "runtime/library/direct/Kernels.h"
#include "runtime/library/simd/Multiply.h"
#include "runtime/library/simd/Steps.h"

namespace dlc::direct {
namespace {

using namespace simd;

/// Maximum number of products that are summed in registers before the sum is stored, so that their
/// weights stay in the L1 cache for all pixels.
constexpr int64_t kRun = 128;

template <int V> struct DirectKernels {
  static void gather(const Shape &shape, const float *image, const PixelRange &pixels, float *to,
                     int64_t block) {
    to += pixels.windowBegin * shape.windowWidth * shape.inBlocks * block;
    for (int64_t ky = pixels.windowBegin; ky < pixels.windowEnd; ++ky)
      for (int64_t kx = 0; kx < shape.windowWidth; ++kx, to += shape.inBlocks * block)
        if (shape.channelsLast)
          gatherTap(shape, image, pixels, ky, kx, 0, shape.inBlocks, to, block);
        else
          for (int64_t c = 0; c < shape.inBlocks; ++c)
            gatherTap(shape, image, pixels, ky, kx, c, c + 1, to + c * block, block);
  }

  /// Copies the inputs of some pixels at one tap of the window, for the channel blocks [begin,
  /// end).
  static void gatherTap(const Shape &shape, const float *image, const PixelRange &pixels,
                        int64_t ky, int64_t kx, int64_t begin, int64_t end, float *to,
                        int64_t block) {
    Pitches<V> pitches(shape.channelsLast, shape.inBlocks, shape.inHeight, shape.inWidth);
    const float *from = image + pixels.image * pitches.image + begin * pitches.block;
    int64_t row = pixels.first / shape.outWidth, column = pixels.first % shape.outWidth;
    for (int64_t t = 0; t < pixels.count; ++t, to += V) {
      int64_t y = row * shape.strideY - shape.top + ky * shape.dilationY;
      int64_t x = column * shape.strideX - shape.left + kx * shape.dilationX;
      bool isInside = y >= 0 && x >= 0 && y < shape.inHeight && x < shape.inWidth;
      const float *source = from + y * pitches.row + x * pitches.pixel;
      for (int64_t c = 0; c < end - begin; ++c)
        store<V>(to + c * block, isInside ? load<V>(source + c * pitches.block) : Vec<V>{});
      if (++column == shape.outWidth)
        column = 0, ++row;
    }
  }

  static void results(const Shape &shape, const PixelRange &pixels, const DataRows &data,
                      const float *weights, int64_t block, bool two, float *sums,
                      const Epilogue &epilogue, float *image) {
    int64_t wide = two ? 2 : 1, most = kRun / V, row = shape.windowWidth * shape.inBlocks;
    int64_t skipped = pixels.windowBegin * row, depth = pixels.windowEnd * row - skipped;
    int64_t runs = (depth + most - 1) / most;
    for (int64_t r = 0; r < runs; ++r) {
      int64_t begin = skipped + depth * r / runs, end = skipped + depth * (r + 1) / runs;
      const float *panel = weights + begin * V * wide * V;
      if (r + 1 == runs)
        for (int64_t o = block; o < block + wide; ++o)
          askForAddends(shape, pixels, o, epilogue);
      Multiplication task{data.at + begin * data.block,
                          data.block,
                          panel,
                          sums,
                          pixels.count * V,
                          end - begin,
                          r > 0,
                          panel + (end - begin) * V * wide * V};
      multiplyTiles<V>(two, task, pixels.count);
    }
    for (int64_t o = block; o < block + wide; ++o, sums += pixels.count * V)
      finish(shape, pixels, o, sums, epilogue, image);
  }

  /// Prefetches the operands of the AddTensor epilogue ops while the last products are computed.
  static void askForAddends(const Shape &shape, const PixelRange &pixels, int64_t block,
                            const Epilogue &epilogue) {
    Pitches<V> pitches(shape.channelsLast, shape.outBlocks, shape.outHeight, shape.outWidth);
    int64_t offset =
        pixels.image * pitches.image + block * pitches.block + pixels.first * pitches.pixel;
    for (int s = 0; s < epilogue.stepCount; ++s)
      if (const EpilogueStep &step = epilogue.steps[s]; step.kind == EpilogueStep::AddTensor)
        for (int64_t t = 0; t < pixels.count; ++t)
          __builtin_prefetch(step.operand + offset + t * pitches.pixel, 0, 2);
  }

  static void finish(const Shape &shape, const PixelRange &pixels, int64_t block, const float *sums,
                     const Epilogue &epilogue, float *image) {
    Pitches<V> pitches(shape.channelsLast, shape.outBlocks, shape.outHeight, shape.outWidth);
    constexpr int kTogether = 8;
    int64_t pixel = pitches.pixel;
    int64_t offset = pixels.image * pitches.image + block * pitches.block + pixels.first * pixel;
    Vec<V> start = epilogue.bias ? load<V>(epilogue.bias + block * V) : Vec<V>{};
    for (int64_t t = 0; t < pixels.count; t += kTogether, offset += kTogether * pixel) {
      int count = int(least(kTogether, pixels.count - t));
      Vec<V> y[1][kTogether];
#pragma GCC unroll 8
      for (int j = 0; j < kTogether; ++j)
        y[0][j] = j < count ? load<V>(sums + (t + j) * V) + start : start;
      for (int s = 0; s < epilogue.stepCount; ++s)
        take<V>(epilogue.steps[s], y, block, offset, 0, pixel, 1, count);
#pragma GCC unroll 8
      for (int j = 0; j < kTogether; ++j)
        if (j < count)
          store<V>(image + offset + j * pixel, y[0][j]);
    }
  }

  static void weights(const Shape &shape, const float *plain, float *to, int64_t begin,
                      int64_t end) {
    int64_t taps = shape.windowHeight * shape.windowWidth, channels = shape.inBlocks * V;
    int64_t row = channels * taps;
    float columns[V * V];
    for (int64_t block = begin; block < end; ++block) {
      int64_t first = block - block % 2, wide = first + 1 < shape.outBlocks ? 2 : 1;
      float *panel = to + first * V * row + (block - first) * V;
      for (int64_t at = 0; at < row; at += V) {
        transpose<V>(plain + block * V * row + at, row, columns, V);
        for (int64_t i = 0; i < V; ++i) {
          int64_t c = (at + i) / taps, tap = (at + i) % taps;
          store<V>(panel + (tap * channels + c) * wide * V, load<V>(columns + i * V));
        }
      }
    }
  }

  static constexpr Kernels kernels = {V, gather, results, weights};
};

} // namespace
} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_DIRECTKERNELS_H

//===- Steps.h - strides of images and epilogue steps of convolutions -----===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_STEPS_H
#define DLC_RUNTIME_LIBRARY_SIMD_STEPS_H

#include "runtime/library/simd/Activations.h"
#include "runtime/library/simd/Step.h"

namespace dlc::simd {
namespace {

/// Strides of an image in elements: between pixels, rows, blocks of channels, and images.
template <int V> struct Pitches {
  int64_t pixel, row, block, image;

  Pitches(bool channelsLast, int64_t blocks, int64_t height, int64_t width)
      : pixel(channelsLast ? blocks * V : V), row(width * pixel),
        block(channelsLast ? V : height * row), image(blocks * height * width * V) {}
};

template <int H, int W, typename Do> DLC_INLINE void forEachIndex(const Do &act) {
#pragma GCC unroll 8
  for (int i = 0; i < H; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < W; ++j)
      act(i, j);
}

/// Applies an activation to `count` vectors. The function is not inlined, so that the caller's sums
/// stay in registers if the convolution has no epilogue op.
template <int V>
[[gnu::noinline]] void activate(const EpilogueStep &step, Vec<V> *values, int count) {
  dispatchActivation<V>(step.activation, step.alpha, step.beta, [&](const auto &function) {
    for (int i = 0; i < count; ++i)
      values[i] = function(values[i]);
  });
}

/// Applies an epilogue op to `y`, a tile of H by W result pixels for one block of V channels. Only
/// the first `rows` by `cols` pixels are inside the image. `offset` is the offset of the tile's
/// first pixel in the destination image.
template <int V, int H, int W>
DLC_INLINE void take(const EpilogueStep &step, Vec<V> (&y)[H][W], int64_t block, int64_t offset,
                     int64_t row, int64_t pixel, int rows, int cols) {
  switch (step.kind) {
  case EpilogueStep::Activate: {
    Vec<V> values[H][W];
    forEachIndex<H, W>([&](int i, int j) { values[i][j] = y[i][j]; });
    activate<V>(step, &values[0][0], H * W);
    forEachIndex<H, W>([&](int i, int j) { y[i][j] = values[i][j]; });
    break;
  }
  case EpilogueStep::AddTensor:
    forEachIndex<H, W>([&](int i, int j) {
      if (i < rows && j < cols)
        y[i][j] += load<V>(step.operand + offset + i * row + j * pixel);
    });
    break;
  case EpilogueStep::AddChannels: {
    Vec<V> operand = load<V>(step.operand + block * V);
    forEachIndex<H, W>([&](int i, int j) { y[i][j] += operand; });
    break;
  }
  case EpilogueStep::MultiplyChannels: {
    Vec<V> operand = load<V>(step.operand + block * V);
    forEachIndex<H, W>([&](int i, int j) { y[i][j] *= operand; });
    break;
  }
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_STEPS_H

//===- Steps.h - how images lie, and what happens to results before they are stored ---===//
//
// For the files compiled for one processor alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_STEPS_H
#define DLC_RUNTIME_LIBRARY_SIMD_STEPS_H

#include "runtime/library/simd/Lanes.h"
#include "runtime/library/simd/Step.h"

namespace dlc::simd {
namespace {

/// How an image lies: elements from one pixel, row, block of channels and image to the next.
template <int V> struct Pitches {
  int64_t pixel, row, block, image;

  Pitches(bool channelsLast, int64_t blocks, int64_t height, int64_t width)
      : pixel(channelsLast ? blocks * V : V), row(width * pixel),
        block(channelsLast ? V : height * row), image(blocks * height * width * V) {}
};

template <int V, int H, int W, typename Change>
DLC_INLINE void change(Vec<V> (&y)[H][W], const Change &change) {
#pragma GCC unroll 8
  for (int i = 0; i < H; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < W; ++j)
      y[i][j] = change(y[i][j]);
}

/// On the first `rows` by `cols` of some results of a block of channels; `offset` is where the
/// first one lies in the image that they become.
template <int V, int H, int W>
DLC_INLINE void take(const Step &step, Vec<V> (&y)[H][W], int64_t block, int64_t offset,
                     int64_t row, int64_t pixel, int rows, int cols) {
  Vec<V> alpha = splat<V>(step.alpha), beta = splat<V>(step.beta), zero{};
  switch (step.kind) {
  case Step::Relu:
    // NaN stays NaN.
    if (step.alpha == 0)
      change<V>(y, [=](Vec<V> v) { return v <= zero ? zero : v; });
    else
      change<V>(y, [=](Vec<V> v) { return v <= zero ? v * alpha : v; });
    break;
  case Step::Clip:
    change<V>(y, [=](Vec<V> v) {
      Vec<V> low = v < alpha ? alpha : v;
      return low > beta ? beta : low;
    });
    break;
  case Step::Linear:
    change<V>(y, [=](Vec<V> v) { return v * alpha + beta; });
    break;
  case Step::AddTensor:
#pragma GCC unroll 8
    for (int i = 0; i < H; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < W; ++j)
        if (i < rows && j < cols)
          y[i][j] += load<V>(step.operand + offset + i * row + j * pixel);
    break;
  case Step::AddChannels: {
    Vec<V> operand = load<V>(step.operand + block * V);
    change<V>(y, [=](Vec<V> v) { return v + operand; });
    break;
  }
  case Step::MultiplyChannels: {
    Vec<V> operand = load<V>(step.operand + block * V);
    change<V>(y, [=](Vec<V> v) { return v * operand; });
    break;
  }
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_STEPS_H

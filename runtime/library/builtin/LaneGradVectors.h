//===- LaneGradVectors.h - depthwise weight gradient for vectors of V channels -===//
//
// For inclusion by the files that are compiled for one architecture. One pass over dy sums as many
// taps as fit the registers. At pixels where some of these taps are outside of the image, the other
// taps are summed separately.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRADVECTORS_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRADVECTORS_H

#include "runtime/library/builtin/LaneGrad.h"
#include "runtime/library/simd/Lanes.h"

namespace dlc::runtime::builtin {
namespace {

template <int V> struct LaneGradVectors {
  using Floats = simd::Vec<V>;
  /// Maximum number of taps whose sums fit in the vector registers.
  static constexpr int kMaxTaps = V == 16 ? 28 : 13;

  struct Range {
    int64_t begin, end;
    Range in(Range other) const {
      return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
    }
  };

  /// One vector of channels of one image: the addresses of x and dy, the taps' sums, and the range
  /// of dy's rows to sum over.
  struct Image {
    const LaneGrad &grad;
    const float *x, *dy;
    float *sums;
    Range rows;

    /// Returns the range of dy's coordinates in dimension `d` at which tap `tap` reads inside of
    /// the image.
    Range inside(int d, int64_t tap) const {
      int64_t origin = tap * grad.dilation[d] - grad.low[d], stride = grad.stride[d];
      int64_t begin = origin < 0 ? (-origin + stride - 1) / stride : 0;
      int64_t end = grad.size[d] - origin;
      end = end <= 0 ? 0 : (end + stride - 1) / stride;
      return {begin, end < grad.outSize[d] ? end : grad.outSize[d]};
    }

    /// Accumulates the gradients of R x C taps, beginning with tap (i, j), over the pixels `down` x
    /// `across` of dy, at which all of these taps are inside of the image.
    template <int R, int C> void block(int64_t i, int64_t j, Range down, Range across) const {
      if (down.begin >= down.end || across.begin >= across.end)
        return;
      Floats acc[R][C] = {};
      const int64_t row = grad.dilation[0] * grad.src.row,
                    column = grad.dilation[1] * grad.src.pixel;
      const int64_t step = grad.stride[1] * grad.src.pixel;
      for (int64_t h = down.begin; h < down.end; ++h) {
        const float *slope = dy + h * grad.dst.row + across.begin * grad.dst.pixel;
        const float *from =
            x + (h * grad.stride[0] + i * grad.dilation[0] - grad.low[0]) * grad.src.row +
            (across.begin * grad.stride[1] + j * grad.dilation[1] - grad.low[1]) * grad.src.pixel;
        for (int64_t w = across.begin; w < across.end; ++w) {
          Floats v = simd::load<V>(slope);
#pragma GCC unroll 7
          for (int r = 0; r < R; ++r)
#pragma GCC unroll 7
            for (int c = 0; c < C; ++c)
              acc[r][c] += v * simd::load<V>(from + r * row + c * column);
          slope += grad.dst.pixel;
          from += step;
        }
      }
      for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
          float *to = sums + ((i + r) * grad.kernel[1] + j + c) * V;
          simd::store<V>(to, simd::load<V>(to) + acc[r][c]);
        }
    }

    /// Accumulates the gradients of R x C taps, beginning with tap (i, j), over all pixels of dy at
    /// which the tap is inside of the image.
    template <int R, int C> void taps(int64_t i, int64_t j) const {
      Range down = rows, across{0, grad.outSize[1]};
      for (int r = 0; r < R; ++r)
        down = down.in(inside(0, i + r));
      for (int c = 0; c < C; ++c)
        across = across.in(inside(1, j + c));
      if (down.begin > down.end)
        down.end = down.begin;
      if (across.begin > across.end)
        across.end = across.begin;
      block<R, C>(i, j, down, across);
      for (int r = 0; r < R; ++r) {
        Range own = rows.in(inside(0, i + r));
        block<1, C>(i + r, j, own.in({own.begin, down.begin}), across);
        block<1, C>(i + r, j, own.in({down.end > down.begin ? down.end : down.begin, own.end}),
                    across);
        for (int c = 0; c < C; ++c) {
          Range tap = inside(1, j + c);
          block<1, 1>(i + r, j + c, own, tap.in({tap.begin, across.begin}));
          block<1, 1>(i + r, j + c, own, tap.in({across.end, tap.end}));
        }
      }
    }

    /// Accumulates the gradients of C columns of the window's taps, in all rows of the window.
    template <int C> void columns(int64_t j) const {
      int64_t i = 0;
      auto rowsAtATime = [&](auto count) {
        constexpr int R = decltype(count)::value;
        if constexpr (R * C <= kMaxTaps)
          for (; i + R <= grad.kernel[0]; i += R)
            taps<R, C>(i, j);
      };
      rowsAtATime(Number<7>());
      rowsAtATime(Number<5>());
      rowsAtATime(Number<3>());
      rowsAtATime(Number<1>());
    }
  };
  template <int N> struct Number { static constexpr int value = N; };

  static void sum(const LaneGrad &grad, const float *x, const float *dy, float *sums, int64_t begin,
                  int64_t end) {
    for (int64_t tap = 0; tap < grad.kernel[0] * grad.kernel[1]; ++tap)
      simd::store<V>(sums + tap * V, Floats{});
    while (begin < end) {
      const int64_t image = begin / grad.outSize[0], row = begin % grad.outSize[0];
      const int64_t rows =
          end - begin < grad.outSize[0] - row ? end - begin : grad.outSize[0] - row;
      Image one{
          grad, x + image * grad.src.image, dy + image * grad.dst.image, sums, {row, row + rows}};
      int64_t j = 0;
      for (; j + 7 <= grad.kernel[1]; j += 7)
        one.template columns<7>(j);
      for (; j + 5 <= grad.kernel[1]; j += 5)
        one.template columns<5>(j);
      for (; j + 3 <= grad.kernel[1]; j += 3)
        one.template columns<3>(j);
      for (; j < grad.kernel[1]; ++j)
        one.template columns<1>(j);
      begin += rows;
    }
  }

  static constexpr LaneGradKernels kernels{sum, V};
};

} // namespace
} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRADVECTORS_H

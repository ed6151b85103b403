//===- ConvGrad.cpp - weight gradient of a convolution --------------------===//
//
// Kind conv_weight_grad of schema/Builtin.def:
//   buffers: x, dy, dw [O, C/groups, kernel...]. Sums of 16-bit floats are f32. If `wide` is 1,
//   dw is f32, too.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/library/describe/Convolution.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

/// Number of output channels that share a pass over x.
constexpr int64_t kTogether = 4;

struct ConvWeightGradient : describe::Convolution {
  /// Sizes of one channel: pixels of x (`plane`), positions of dy (`slopes`), taps of the window.
  /// The innermost loops run along the last spatial dimension, a row. `rows` is the number of
  /// positions in the other dimensions, and `rowTaps` the number of taps along a row.
  int64_t plane, slopes, taps, rows, rowTaps;
  DType dtype;

  int64_t channelsPer() const { return channels / groups; }
  int64_t featuresPer() const { return features / groups; }
};

/// Offsets of a row of x and of a row of dy that are multiplied, for one tap of the dimensions
/// before the last.
struct RowPair {
  int64_t from, to;
};

std::vector<RowPair> collectRowPairs(const ConvWeightGradient &g, int64_t tap) {
  std::vector<RowPair> pairs;
  for (int64_t row = 0; row < g.rows; ++row) {
    int64_t restRow = row, restTap = tap, from = 0, step = g.src.back();
    bool inside = true;
    for (size_t d = g.src.size() - 1; d-- > 0;) {
      int64_t at = restRow % g.dst[d] * g.window.strides[d] +
                   restTap % g.window.sizes[d] * g.window.dilations[d] - g.window.low[d];
      restRow /= g.dst[d];
      restTap /= g.window.sizes[d];
      inside &= at >= 0 && at < g.src[d];
      from += at * step;
      step *= g.src[d];
    }
    if (inside)
      pairs.push_back({from, row * g.dst.back()});
  }
  return pairs;
}

/// Adds the dot products of `count` elements of x with each of `together` rows of dy to `sums`.
template <typename T, int together>
inline void addDots(const T *x, int64_t stride, const T *dy, int64_t between, int64_t count,
                    double *sums) {
  T partial[together] = {};
  for (int f = 0; f < together; ++f) {
    const T *row = dy + f * between;
    T sum = 0;
    if (stride == 1) {
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < count; ++i)
        sum += x[i] * row[i];
    } else {
      for (int64_t i = 0; i < count; ++i)
        sum += x[i * stride] * row[i];
    }
    partial[f] = sum;
  }
  for (int f = 0; f < together; ++f)
    sums[f] += double(partial[f]);
}

/// Computes the weight gradient dw of `together` output channels, for one tap of the dimensions
/// before the last and all taps of the last dimension.
template <typename T, typename Out, int together>
void addTap(const ConvWeightGradient &g, const std::vector<RowPair> &pairs, const T *x, const T *dy,
            Out *dw) {
  size_t last = g.src.size() - 1;
  for (int64_t tap = 0; tap < g.rowTaps; ++tap) {
    int64_t origin = tap * g.window.dilations[last] - g.window.low[last],
            stride = g.window.strides[last];
    // Range of result positions at which the tap reads an element inside of the row.
    int64_t first = origin < 0 ? (-origin + stride - 1) / stride : 0;
    int64_t end = g.src[last] - origin;
    end = end <= 0 ? 0 : std::min(g.dst[last], (end + stride - 1) / stride);
    double sums[together] = {};
    for (int64_t n = 0; n < g.batch && first < end; ++n)
      for (const RowPair &pair : pairs)
        addDots<T, together>(x + n * g.channels * g.plane + pair.from + origin + first * stride,
                             stride, dy + n * g.features * g.slopes + pair.to + first, g.slopes,
                             end - first, sums);
    for (int f = 0; f < together; ++f)
      dw[f * g.channelsPer() * g.taps + tap] = store<Out>(Compute<Out>(sums[f]));
  }
}

template <typename T, typename Out>
void runGradient(const ConvWeightGradient &g, const T *x, const T *dy, Out *dw, int threads) {
  if (g.features * g.channelsPer() == 0)
    return;
  int64_t blocks = (g.featuresPer() + kTogether - 1) / kTogether;
  std::vector<std::vector<RowPair>> pairs;
  pairs.reserve(static_cast<size_t>(g.taps / g.rowTaps));
  for (int64_t tap = 0; tap < g.taps / g.rowTaps; ++tap)
    pairs.push_back(collectRowPairs(g, tap));
  parallelFor(
      threads, g.groups * blocks * g.channelsPer(), 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
          int64_t c = item % g.channelsPer(), block = item / g.channelsPer() % blocks;
          int64_t group = item / g.channelsPer() / blocks;
          int64_t f = block * kTogether, count = std::min(kTogether, g.featuresPer() - f);
          f += group * g.featuresPer();
          const T *plane = x + (group * g.channelsPer() + c) * g.plane;
          for (size_t tap = 0; tap < pairs.size(); ++tap) {
            auto slopes = [&](int64_t i) { return dy + (f + i) * g.slopes; };
            auto result = [&](int64_t i) {
              return dw + ((f + i) * g.channelsPer() + c) * g.taps + int64_t(tap) * g.rowTaps;
            };
            if (count == kTogether)
              addTap<T, Out, kTogether>(g, pairs[tap], plane, slopes(0), result(0));
            else
              for (int64_t i = 0; i < count; ++i)
                addTap<T, Out, 1>(g, pairs[tap], plane, slopes(i), result(i));
          }
        }
      });
}

/// Converts 16-bit floats to f32 once, before all their uses.
template <typename T> void convertToFloat(const T *from, float *to, int64_t count, int threads) {
  parallelFor(threads, count, 1 << 14, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = load(from[i]);
  });
}

/// Merges dimensions in which the window is a single element with stride 1 and without padding into
/// one long row.
void mergeUnitDimensions(ConvWeightGradient &g) {
  while (g.src.size() > 1) {
    size_t last = g.src.size() - 1;
    for (size_t d : {last - 1, last})
      if (g.window.sizes[d] != 1 || g.window.strides[d] != 1 || g.window.low[d] != 0 ||
          g.src[d] != g.dst[d])
        return;
    g.src[last - 1] *= g.src[last];
    g.dst[last - 1] *= g.dst[last];
    for (auto *list :
         {&g.src, &g.dst, &g.window.sizes, &g.window.strides, &g.window.dilations, &g.window.low})
      list->pop_back();
  }
}

} // namespace

std::unique_ptr<LibraryCall> makeConvWeightGrad(KernelRequest &request) {
  const auto fields = request.read<schema::ConvWeightGrad>();
  requireFloating(fields, "dtype", fields.dtype);
  ConvWeightGradient g;
  static_cast<describe::Convolution &>(g) = {fields, describe::SlidingWindow::of(fields),
                                             fields.groups};
  g.dtype = fields.dtype;
  int64_t inputs = g.sourceElements(), slopes = g.resultElements(), results = g.weightElements();
  g.plane = g.pixels(), g.slopes = g.positions(), g.taps = g.window.taps();
  mergeUnitDimensions(g);
  g.rowTaps = g.window.sizes.back();
  g.rows = g.batch && g.features && g.dst.back() ? g.slopes / g.dst.back() : 0;
  bool half = g.dtype == DType::F16 || g.dtype == DType::BF16;
  bool wide = half && fields.wide == 1;
  request.need("x", inputs, g.dtype, false);
  request.need("dy", slopes, g.dtype, false);
  request.need("dw", results, wide ? DType::F32 : g.dtype, true);
  request.end();
  auto run = [g, inputs, slopes, wide](void *const *buffers, const CallContext &context) {
    dispatch(g.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const T *x = static_cast<const T *>(buffers[0]), *dy = static_cast<const T *>(buffers[1]);
      T *dw = static_cast<T *>(buffers[2]);
      if constexpr (isHalf<T>) {
        float *wideX = static_cast<float *>(context.scratch), *wideDy = wideX + inputs;
        convertToFloat(x, wideX, inputs, context.threads);
        convertToFloat(dy, wideDy, slopes, context.threads);
        if (wide)
          runGradient(g, wideX, wideDy, static_cast<float *>(buffers[2]), context.threads);
        else
          runGradient(g, wideX, wideDy, dw, context.threads);
      } else if constexpr (std::is_floating_point_v<T>) {
        runGradient(g, x, dy, dw, context.threads);
      }
    });
  };
  return makeCall("conv_weight_grad", run, half ? uint64_t(inputs + slopes) * sizeof(float) : 0);
}

} // namespace dlc::runtime::builtin

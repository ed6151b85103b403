//===- Resize.cpp - resizes images ----------------------------------------===//
#include "frontend/aten/Gradient.h"
#include "frontend/aten/math/Axis.h"
#include "frontend/builder/Sample.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace dlc::aten {

Value resampleByMatmul(Build &b, Value x, int64_t axis, int64_t size,
                       ArrayRef<ResampleWeight> shares) {
  Type given = b.elem(x);
  x = b.widen(x);
  int64_t in = b.dim(x, axis), rank = b.rank(x);
  if (!b.ok() || !b.require(in * size <= Build::needLimit, "a dimension is too large to resize"))
    return {};
  std::vector<double> matrix(size_t(in * size), 0);
  for (const ResampleWeight &share : shares)
    matrix[size_t(share.from * size + share.to)] += share.weight;
  // Permutation that moves the dimension to the end for the matmul.
  Dims order;
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(i);
  std::swap(order[size_t(axis)], order.back());
  Value moved = b.transpose(x, order);
  Dims shape = b.dims(moved);
  Value y = b.matmul(b.reshape(moved, {b.count(moved) / std::max<int64_t>(in, 1), in}),
                     b.floats(matrix, {in, size}, b.elem(x)));
  shape.back() = size;
  return b.cast(b.transpose(b.reshape(y, shape), order), given);
}

Value resampleByGathers(Build &b, Value x, int64_t axis, int64_t size,
                        ArrayRef<ResampleWeight> shares) {
  constexpr size_t kMax = 16;
  std::vector<SmallVector<ResampleWeight, 4>> of(static_cast<size_t>(size));
  size_t most = 0;
  for (const ResampleWeight &share : shares) {
    of[size_t(share.to)].push_back(share);
    most = std::max(most, of[size_t(share.to)].size());
  }
  if (most > kMax || !b.ok())
    return {};
  Type given = b.elem(x);
  x = b.widen(x);
  Dims shape(size_t(b.rank(x)), 1), whole = b.dims(x);
  shape[size_t(axis)] = whole[size_t(axis)] = size;
  Value sum;
  for (size_t k = 0; k < most; ++k) {
    Dims places, there;
    std::vector<double> weights;
    for (const auto &each : of) {
      there.push_back(k < each.size());
      places.push_back(k < each.size() ? each[k].from : each.empty() ? 0 : each.back().from);
      weights.push_back(k < each.size() ? each[k].weight : 1);
    }
    Value part = b.gather(x, b.ints(places), axis);
    if (llvm::any_of(weights, [](double weight) { return weight != 1; }))
      part = b.mul(part, b.floats(weights, shape, b.elem(x)));
    if (llvm::is_contained(there, 0))
      part = b.select(b.ints(there, shape, b.i1), part, b.like(part, 0));
    sum = sum ? b.add(sum, part) : part;
  }
  return b.cast(sum ? sum : b.splat(b.elem(x), whole, 0), given);
}

namespace {

/// One resized dimension: its input size `in` and output size `out`, and the distance `scale`
/// between sampled coordinates.
struct ResizedDim {
  int64_t axis, in, out;
  double scale;
};

/// Returns the resized dimensions of an image [N, C, spatial..]. The output sizes are given or
/// computed from scale factors. If scale factors are given, the sampled coordinates are computed
/// from them instead of the sizes.
std::vector<ResizedDim> readResizedDims(Node &n, Build &b, const Dims &image, int64_t spatial,
                                        bool corners) {
  static constexpr StringRef names[3][3] = {
      {"scales"}, {"scales_h", "scales_w"}, {"scales_d", "scales_h", "scales_w"}};
  std::vector<ResizedDim> steps;
  if (!b.require(int64_t(image.size()) == spatial + 2, "required: x [N, C, spatial..]"))
    return steps;
  std::vector<double> factors = n.reals("scale_factors");
  Dims sizes = n.ints("output_size");
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t in = image[size_t(2 + i)];
    double factor =
        i < int64_t(factors.size()) ? factors[size_t(i)] : n.real(names[spatial - 1][i], 0.0);
    int64_t out = i < int64_t(sizes.size()) ? sizes[size_t(i)] : int64_t(double(in) * factor);
    if (!b.require(in > 0 && Build::isSane(out, 1), "required: sizes of 1 or more"))
      return {};
    double scale = corners      ? (out > 1 ? double(in - 1) / double(out - 1) : 0)
                   : factor > 0 ? 1 / factor
                                : double(in) / double(out);
    steps.push_back({2 + i, in, out, scale});
  }
  return steps;
}

StringRef inputName(Node &n) { return n.has("input") ? "input" : "self"; }

/// The weighted input elements that contribute to each element of a resized dimension.
using ResampleWeights = std::vector<ResampleWeight>;
using WeightFunction = ResampleWeights (*)(const ResizedDim &step, bool corners);

template <bool exact> ResampleWeights nearestWeights(const ResizedDim &step, bool /*corners*/) {
  ResampleWeights shares;
  for (int64_t o = 0; o < step.out; ++o) {
    // Computed in f32 as in PyTorch, because the rounding determines which of two neighboring
    // elements is the nearest.
    float place = (float(o) + (exact ? 0.5f : 0.0f)) * float(step.scale);
    shares.push_back({o, std::clamp<int64_t>(int64_t(std::floor(place)), 0, step.in - 1), 1});
  }
  return shares;
}

ResampleWeights linearWeights(const ResizedDim &step, bool corners) {
  ResampleWeights shares;
  for (int64_t o = 0; o < step.out; ++o) {
    double place =
        corners ? double(o) * step.scale : std::max(0.0, (double(o) + 0.5) * step.scale - 0.5);
    int64_t low = std::min<int64_t>(int64_t(place), step.in - 1),
            high = std::min(low + 1, step.in - 1);
    double part = std::min(1.0, place - double(low));
    shares.push_back({o, low, 1 - part});
    shares.push_back({o, high, part});
  }
  return shares;
}

/// Bicubic resampling: Keys' cubic convolution with a = -0.75. Coordinates outside the image are
/// clamped to the edge.
ResampleWeights cubicWeights(const ResizedDim &step, bool corners) {
  auto weight = [](double t) {
    constexpr double a = -0.75;
    t = std::abs(t);
    return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
           : t < 2 ? ((t - 5) * t + 8) * t * a - 4 * a
                   : 0;
  };
  ResampleWeights shares;
  for (int64_t o = 0; o < step.out; ++o) {
    double place = corners ? double(o) * step.scale : (double(o) + 0.5) * step.scale - 0.5;
    int64_t low = int64_t(std::floor(place));
    for (int64_t tap = -1; tap <= 2; ++tap)
      shares.push_back(
          {o, std::clamp<int64_t>(low + tap, 0, step.in - 1), weight(place - double(low + tap))});
  }
  return shares;
}

double triangle(double t) { return std::max(0.0, 1 - std::abs(t)); }

/// Kernel of antialiased bicubic resampling: Keys' cubic convolution with a = -0.5.
double antialiasedCubicKernel(double t) {
  constexpr double a = -0.5;
  t = std::abs(t);
  return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

double lanczosKernel(double t) {
  constexpr double kReach = 3;
  auto wave = [](double x) {
    constexpr double pi = std::numbers::pi;
    return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
  };
  return std::abs(t) < kReach ? wave(t) * wave(t / kReach) : 0;
}

/// Antialiased resampling: the filter is widened to the input range of one result element if the
/// image shrinks. The weights sum to 1.
template <double (*filter)(double), int reach>
ResampleWeights antialiasedWeights(const ResizedDim &step, bool /*corners*/) {
  double width = std::max(1.0, step.scale);
  ResampleWeights shares;
  for (int64_t o = 0; o < step.out; ++o) {
    double centre = (double(o) + 0.5) * step.scale;
    int64_t low = std::max<int64_t>(0, int64_t(std::floor(centre - reach * width + 0.5))),
            high = std::min<int64_t>(step.in, int64_t(std::floor(centre + reach * width + 0.5)));
    size_t first = shares.size();
    double sum = 0;
    for (int64_t from = low; from < high; ++from) {
      double weight = filter((double(from) - centre + 0.5) / width);
      shares.push_back({o, from, weight});
      sum += weight;
    }
    for (size_t i = first; i < shares.size() && sum != 0; ++i)
      shares[i].weight /= sum;
  }
  return shares;
}

/// Resamples one dimension of x: as a sum of gathers if each result element has few contributions,
/// otherwise as a matmul.
Value resample(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<ResampleWeight> shares) {
  Value few = resampleByGathers(b, x, axis, size, shares);
  return few ? few : resampleByMatmul(b, x, axis, size, shares);
}

/// Resizes an image. In a training step each dimension is resampled by a matmul, because the
/// gradient of a matmul is a matmul too.
template <int spatial, WeightFunction sharesOf> void resize(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  bool corners = n.flag("align_corners");
  for (const ResizedDim &step : readResizedDims(n, b, b.dims(x), spatial, corners))
    x = (b.training ? resampleByMatmul : resample)(b, x, step.axis, step.out,
                                                   sharesOf(step, corners));
  n.set(x);
}

template <int spatial, WeightFunction sharesOf> void resizeByGather(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  for (const ResizedDim &step : readResizedDims(n, b, b.dims(x), spatial, false))
    x = resampleByGathers(b, x, step.axis, step.out, sharesOf(step, false));
  n.set(x);
}

/// Merges several contributions between the same pair of elements into one.
ResampleWeights mergeDuplicateWeights(const ResampleWeights &shares) {
  std::map<std::pair<int64_t, int64_t>, double> weights;
  for (const ResampleWeight &share : shares)
    weights[{share.to, share.from}] += share.weight;
  ResampleWeights result;
  for (auto [places, weight] : weights)
    result.push_back({places.first, places.second, weight});
  return result;
}

/// Gradient of resizing: resamples with the same weights transposed, so that each input element
/// gathers from the result elements to which it contributed.
template <int spatial, WeightFunction sharesOf> void resizeGradient(Node &n, Build &b) {
  Value dx = n.tensor("grad_output");
  bool corners = n.flag("align_corners");
  for (const ResizedDim &step : readResizedDims(n, b, n.ints("input_size"), spatial, corners)) {
    ResampleWeights shares = sharesOf(step, corners);
    for (ResampleWeight &share : shares)
      std::swap(share.to, share.from);
    dx = resample(b, dx, step.axis, step.in, mergeDuplicateWeights(shares));
  }
  n.set(dx);
}

std::optional<frontend::GridSampleOptions> readGridSampleOptions(Node &n, Build &b) {
  static constexpr const char *modes[] = {"linear", "nearest", "cubic"},
                              *paddings[] = {"zeros", "border", "reflection"};
  int64_t mode = n.integer("interpolation_mode"), padding = n.integer("padding_mode");
  if (!b.require(mode >= 0 && mode < 3 && padding >= 0 && padding < 3,
                 "required: a mode and a padding of 0 to 2"))
    return std::nullopt;
  return frontend::GridSampleOptions{modes[mode], paddings[padding], n.flag("align_corners")};
}

void gridSampler(Node &n, Build &b) {
  if (auto how = readGridSampleOptions(n, b))
    n.set(frontend::sampleGrid(b, n.tensor("input"), n.tensor("grid"), *how));
}

void gridSamplerGradient(Node &n, Build &b) {
  Value x = n.tensor("input"), grid = n.tensor("grid");
  auto how = readGridSampleOptions(n, b);
  if (!how)
    return;
  Value y = frontend::sampleGrid(b, x, grid, *how);
  setGradients(n, b, {y}, {n.tensor("grad_output")}, {x, grid});
}

const Operator table[] = {
    {"_upsample_bilinear2d_aa.default", resize<2, antialiasedWeights<triangle, 1>>},
    {"_upsample_bicubic2d_aa.default", resize<2, antialiasedWeights<antialiasedCubicKernel, 2>>},
    {"_upsample_lanczos2d_aa.default", resize<2, antialiasedWeights<lanczosKernel, 3>>},
    {"_upsample_bilinear2d_aa_backward.default",
     resizeGradient<2, antialiasedWeights<triangle, 1>>},
    {"_upsample_bicubic2d_aa_backward.default",
     resizeGradient<2, antialiasedWeights<antialiasedCubicKernel, 2>>},
    {"_upsample_lanczos2d_aa_backward.default",
     resizeGradient<2, antialiasedWeights<lanczosKernel, 3>>},
    {"grid_sampler_2d.default", gridSampler},
    {"grid_sampler_3d.default", gridSampler},
    {"grid_sampler_2d_backward.default", gridSamplerGradient},
    {"grid_sampler_3d_backward.default", gridSamplerGradient},
    {"upsample_nearest1d.default", resizeByGather<1, nearestWeights<false>>},
    {"upsample_nearest1d.vec", resizeByGather<1, nearestWeights<false>>},
    {"upsample_nearest2d.default", resizeByGather<2, nearestWeights<false>>},
    {"upsample_nearest2d.vec", resizeByGather<2, nearestWeights<false>>},
    {"upsample_nearest3d.default", resizeByGather<3, nearestWeights<false>>},
    {"upsample_nearest3d.vec", resizeByGather<3, nearestWeights<false>>},
    {"upsample_nearest1d_backward.default", resizeGradient<1, nearestWeights<false>>},
    {"upsample_nearest2d_backward.default", resizeGradient<2, nearestWeights<false>>},
    {"upsample_nearest3d_backward.default", resizeGradient<3, nearestWeights<false>>},
    {"_upsample_nearest_exact1d.default", resizeByGather<1, nearestWeights<true>>},
    {"_upsample_nearest_exact2d.default", resizeByGather<2, nearestWeights<true>>},
    {"_upsample_nearest_exact2d.vec", resizeByGather<2, nearestWeights<true>>},
    {"_upsample_nearest_exact3d.default", resizeByGather<3, nearestWeights<true>>},
    {"_upsample_nearest_exact1d_backward.default", resizeGradient<1, nearestWeights<true>>},
    {"_upsample_nearest_exact2d_backward.default", resizeGradient<2, nearestWeights<true>>},
    {"_upsample_nearest_exact3d_backward.default", resizeGradient<3, nearestWeights<true>>},
    {"upsample_linear1d.default", resize<1, linearWeights>},
    {"upsample_linear1d.vec", resize<1, linearWeights>},
    {"upsample_bilinear2d.default", resize<2, linearWeights>},
    {"upsample_bilinear2d.vec", resize<2, linearWeights>},
    {"upsample_trilinear3d.default", resize<3, linearWeights>},
    {"upsample_trilinear3d.vec", resize<3, linearWeights>},
    {"upsample_linear1d_backward.default", resizeGradient<1, linearWeights>},
    {"upsample_bilinear2d_backward.default", resizeGradient<2, linearWeights>},
    {"upsample_trilinear3d_backward.default", resizeGradient<3, linearWeights>},
    {"upsample_bicubic2d.default", resize<2, cubicWeights>},
    {"upsample_bicubic2d.vec", resize<2, cubicWeights>},
    {"upsample_bicubic2d_backward.default", resizeGradient<2, cubicWeights>},
};

} // namespace

ArrayRef<Operator> resizeOperators() { return table; }

} // namespace dlc::aten

//===- Resize.cpp - images in another size --------------------------------===//
#include "frontend/aten/Axis.h"
#include "frontend/onnx/Sample.h"

#include <cmath>

using namespace mlir;

namespace dlc::aten {

Value mixed(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<Share> shares) {
  Type given = b.elem(x);
  x = b.widen(x);
  int64_t in = b.dim(x, axis), rank = b.rank(x);
  if (!b.ok() || !b.require(in * size <= Build::needLimit, "a dimension is too large to resize"))
    return {};
  std::vector<double> matrix(size_t(in * size), 0);
  for (const Share &share : shares)
    matrix[size_t(share.from * size + share.to)] += share.weight;
  // The dimension goes last, where a product takes it.
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

namespace {

/// One dimension's sizes and the step between the places that are read.
struct Step {
  int64_t axis, in, out;
  double scale;
};

/// Sizes are given, or follow from factors, which then are what the places are computed of.
std::vector<Step> stepsOf(Node &n, Build &b, Value x, int64_t spatial, bool corners) {
  static constexpr StringRef names[3][3] = {
      {"scales"}, {"scales_h", "scales_w"}, {"scales_d", "scales_h", "scales_w"}};
  std::vector<Step> steps;
  if (!b.require(b.rank(x) == spatial + 2, "required: x [N, C, spatial..]"))
    return steps;
  std::vector<double> factors = n.reals("scale_factors");
  Dims sizes = n.ints("output_size");
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t in = b.dim(x, 2 + i);
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

template <int spatial, bool exact> void nearest(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  for (const Step &step : stepsOf(n, b, x, spatial, false)) {
    Dims from;
    for (int64_t o = 0; o < step.out; ++o) {
      // In f32, as PyTorch: its rounding decides which of two neighbours it is.
      float place = (float(o) + (exact ? 0.5f : 0.0f)) * float(step.scale);
      from.push_back(std::clamp<int64_t>(int64_t(std::floor(place)), 0, step.in - 1));
    }
    x = b.gather(x, b.ints(from), step.axis);
  }
  n.set(x);
}

template <int spatial> void linear(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  bool corners = n.flag("align_corners");
  for (const Step &step : stepsOf(n, b, x, spatial, corners)) {
    std::vector<Share> shares;
    for (int64_t o = 0; o < step.out; ++o) {
      double place =
          corners ? double(o) * step.scale : std::max(0.0, (double(o) + 0.5) * step.scale - 0.5);
      int64_t low = std::min<int64_t>(int64_t(place), step.in - 1),
              high = std::min(low + 1, step.in - 1);
      double part = std::min(1.0, place - double(low));
      shares.push_back({o, low, 1 - part});
      shares.push_back({o, high, part});
    }
    x = mixed(b, x, step.axis, step.out, shares);
  }
  n.set(x);
}

/// Keys' cubic with a = -0.75; places outside read the edge.
void cubic(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  bool corners = n.flag("align_corners");
  auto weight = [](double t) {
    constexpr double a = -0.75;
    t = std::abs(t);
    return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
           : t < 2 ? ((t - 5) * t + 8) * t * a - 4 * a
                   : 0;
  };
  for (const Step &step : stepsOf(n, b, x, 2, corners)) {
    std::vector<Share> shares;
    for (int64_t o = 0; o < step.out; ++o) {
      double place = corners ? double(o) * step.scale : (double(o) + 0.5) * step.scale - 0.5;
      int64_t low = int64_t(std::floor(place));
      for (int64_t tap = -1; tap <= 2; ++tap)
        shares.push_back(
            {o, std::clamp<int64_t>(low + tap, 0, step.in - 1), weight(place - double(low + tap))});
    }
    x = mixed(b, x, step.axis, step.out, shares);
  }
  n.set(x);
}

double triangle(double t) { return std::max(0.0, 1 - std::abs(t)); }

/// Keys' cubic with a = -0.5.
double smoothCubic(double t) {
  constexpr double a = -0.5;
  t = std::abs(t);
  return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

/// A filter as wide as what one element of the result covers, of weights that sum up to 1.
template <double (*filter)(double), int reach> void smooth(Node &n, Build &b) {
  Value x = n.tensor(inputName(n));
  for (const Step &step : stepsOf(n, b, x, 2, n.flag("align_corners"))) {
    double width = std::max(1.0, step.scale);
    std::vector<Share> shares;
    for (int64_t o = 0; o < step.out; ++o) {
      double centre = (double(o) + 0.5) * step.scale;
      int64_t low = std::max<int64_t>(0, int64_t(centre - reach * width + 0.5)),
              high = std::min<int64_t>(step.in, int64_t(centre + reach * width + 0.5));
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
    x = mixed(b, x, step.axis, step.out, shares);
  }
  n.set(x);
}

void gridSampler(Node &n, Build &b) {
  static constexpr const char *modes[] = {"linear", "nearest", "cubic"},
                              *paddings[] = {"zeros", "border", "reflection"};
  int64_t mode = n.integer("interpolation_mode"), padding = n.integer("padding_mode");
  if (!b.require(mode >= 0 && mode < 3 && padding >= 0 && padding < 3,
                 "required: a mode and a padding of 0 to 2"))
    return;
  n.set(onnxfront::sampleGrid(b, n.tensor("input"), n.tensor("grid"),
                              {modes[mode], paddings[padding], n.flag("align_corners"),
                               /*perElement=*/mode == 2}));
}

const Operator table[] = {
    {"_upsample_bilinear2d_aa.default", smooth<triangle, 1>},
    {"_upsample_bicubic2d_aa.default", smooth<smoothCubic, 2>},
    {"grid_sampler_2d.default", gridSampler},
    {"grid_sampler_3d.default", gridSampler},
    {"upsample_nearest1d.default", nearest<1, false>},
    {"upsample_nearest1d.vec", nearest<1, false>},
    {"upsample_nearest2d.default", nearest<2, false>},
    {"upsample_nearest2d.vec", nearest<2, false>},
    {"upsample_nearest3d.default", nearest<3, false>},
    {"upsample_nearest3d.vec", nearest<3, false>},
    {"_upsample_nearest_exact1d.default", nearest<1, true>},
    {"_upsample_nearest_exact2d.default", nearest<2, true>},
    {"_upsample_nearest_exact2d.vec", nearest<2, true>},
    {"upsample_linear1d.default", linear<1>},
    {"upsample_linear1d.vec", linear<1>},
    {"upsample_bilinear2d.default", linear<2>},
    {"upsample_bilinear2d.vec", linear<2>},
    {"upsample_trilinear3d.default", linear<3>},
    {"upsample_trilinear3d.vec", linear<3>},
    {"upsample_bicubic2d.default", cubic},
    {"upsample_bicubic2d.vec", cubic},
};

} // namespace

ArrayRef<Operator> resizeOperators() { return table; }

} // namespace dlc::aten

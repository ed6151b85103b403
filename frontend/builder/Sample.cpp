//===- Sample.cpp - samples images at fractional coordinates --------------===//
#include "frontend/builder/Sample.h"

using namespace mlir;

namespace dlc::frontend {

Value isInside(Build &b, Value place, int64_t extent) {
  return b.both(b.compare(Predicate::ge, place, b.like(place, 0)),
                b.compare(Predicate::lt, place, b.like(place, double(extent))));
}

Value samplePoints(Build &b, Value x, ArrayRef<Value> places) {
  Value index;
  int64_t total = 1;
  for (int64_t i = 0; i < int64_t(places.size()); ++i) {
    int64_t extent = b.dim(x, 2 + i);
    if (!b.require(extent > 0, "an image without elements cannot be sampled"))
      return {};
    Value place = b.clamp(places[i], 0, double(extent - 1));
    index = index ? b.add(b.mul(index, double(extent)), place) : place;
    total *= extent;
  }
  if (!b.ok() || !index)
    return {};
  int64_t B = b.dim(x, 0), C = b.dim(x, 1), P = b.dim(index, 1);
  Value spread = b.broadcast(b.expandDims(index, 1), {B, C, P});
  return b.op<GatherElementsOp>({b.reshape(x, {B, C, total}), spread},
                                {b.attr("axis", int64_t(2))});
}

Value sampleLinear(Build &b, Value x, ArrayRef<Value> places) {
  size_t spatial = places.size();
  std::vector<Value> floors, fractions;
  for (Value place : places) {
    Value low = b.unary<FloorOp>(place);
    fractions.push_back(b.sub(place, low));
    floors.push_back(b.cast(low, b.i64));
  }
  Value sum;
  for (size_t corner = 0; corner < (size_t(1) << spatial) && b.ok(); ++corner) {
    std::vector<Value> at;
    Value weight;
    for (size_t i = 0; i < spatial; ++i) {
      bool upper = corner >> i & 1;
      Value place = upper ? b.add(floors[i], 1.0) : floors[i];
      Value part = upper ? fractions[i] : b.sub(b.like(fractions[i], 1), fractions[i]);
      part = b.select(isInside(b, place, b.dim(x, 2 + int64_t(i))), part, b.like(part, 0));
      weight = weight ? b.mul(weight, part) : part;
      at.push_back(place);
    }
    Value term = b.mul(samplePoints(b, x, at), b.cast(b.expandDims(weight, 1), b.elem(x)));
    sum = sum ? b.add(sum, term) : term;
  }
  return sum;
}

namespace {

/// Reflects coordinates x at the borders `low` and `high` until they are inside the range.
Value reflectCoordinates(Build &b, Value x, double low, double high) {
  double span = high - low;
  if (span <= 0)
    return b.mul(x, 0.0);
  Value t = b.rem(b.unary<AbsOp>(b.sub(x, low)), b.like(x, 2 * span), true);
  Value folded =
      b.select(b.compare(Predicate::gt, t, b.like(t, span)), b.sub(b.like(t, 2 * span), t), t);
  return b.add(folded, low);
}

/// One interpolation tap along a dimension: the integer coordinates to sample (as floats) and their
/// weights. Null weights mean 1.
struct Tap {
  Value place, weight;
};

std::vector<Tap> computeInterpolationTaps(Build &b, Value x, StringRef mode) {
  if (mode == "nearest")
    return {{x, {}}};
  Value low = b.unary<FloorOp>(x), t = b.sub(x, low);
  if (mode == "linear")
    return {{low, b.sub(b.like(t, 1), t)}, {b.add(low, 1.0), t}};
  // Parameter of Keys' cubic convolution kernel, as in PyTorch and ONNX Runtime.
  constexpr double a = -0.75;
  auto inner = [&](Value d) { // |d| <= 1: ((a + 2) d - (a + 3)) d^2 + 1
    return b.add(b.mul(b.mul(b.sub(b.mul(d, a + 2), a + 3), d), d), 1.0);
  };
  auto outer = [&](Value d) { // 1 < |d| < 2: ((a d - 5 a) d + 8 a) d - 4 a
    return b.sub(b.mul(b.add(b.mul(b.sub(b.mul(d, a), 5 * a), d), 8 * a), d), 4 * a);
  };
  Value u = b.sub(b.like(t, 1), t);
  return {{b.sub(low, 1.0), outer(b.add(t, 1.0))},
          {low, inner(t)},
          {b.add(low, 1.0), inner(u)},
          {b.add(low, 2.0), outer(b.add(u, 1.0))}};
}

/// Converts coordinates of the grid, from -1 to 1, to coordinates of pixels along a dimension with
/// `extent` pixels, and applies the padding mode to those outside of the image.
Value toPixelCoordinates(Build &b, Value at, double extent, std::pair<double, double> borders,
                         const GridSampleOptions &how) {
  const auto &[mode, padding, corners] = how;
  at = corners ? b.mul(b.add(at, 1.0), (extent - 1) / 2)
               : b.div(b.sub(b.mul(b.add(at, 1.0), extent), 1.0), 2.0);
  if (mode == "nearest")
    at = b.unary<RoundOp>(at);
  const bool isLinear = mode == "linear";
  // Border padding of cubic sampling clamps each sampled neighbor instead of the coordinate, as
  // PyTorch and ONNX Runtime do.
  if (padding == "reflection" || (padding == "border" && mode == "nearest")) {
    Value outside = b.either(b.compare(Predicate::lt, at, b.like(at, borders.first)),
                             b.compare(Predicate::gt, at, b.like(at, borders.second)));
    Value moved = padding == "border" ? b.clamp(at, 0, extent - 1)
                                      : reflectCoordinates(b, at, borders.first, borders.second);
    at = b.select(outside, moved, at);
  }
  // Linear sampling clamps coordinates to the centers of the outermost pixels, outside of which
  // the result is constant and the gradient is 0.
  if (padding != "zeros" && isLinear)
    at = b.clamp(at, 0, extent - 1);
  return at;
}

} // namespace

Value sampleGrid(Build &b, Value x, Value grid, const GridSampleOptions &how) {
  const auto &[mode, padding, corners] = how;
  int64_t spatial = b.rank(x) - 2, rank = b.rank(grid);
  if (!b.require(spatial >= 1 && spatial <= 3 && rank == spatial + 2 &&
                     b.dim(grid, -1) == spatial && b.dim(grid, 0) == b.dim(x, 0),
                 "required x [N, C, spatial..] and a grid [N, places.., spatial dimensions]"))
    return {};
  int64_t N = b.dim(x, 0), C = b.dim(x, 1);
  Dims outShape{N, C};
  outShape.insert(outShape.end(), b.shape(grid).begin() + 1, b.shape(grid).end() - 1);
  int64_t P = 1;
  for (size_t i = 2; i < outShape.size(); ++i)
    P *= outShape[i];
  Value points = b.reshape(b.widen(grid), {N, P, spatial});
  std::vector<std::vector<Tap>> taps;
  std::vector<std::pair<double, double>> borders;
  for (int64_t d = 0; d < spatial; ++d) {
    // The grid's coordinates are in reverse order: the last one refers to the first spatial
    // dimension.
    Value at = b.at(points, 2, spatial - 1 - d);
    double extent = double(b.dim(x, 2 + d));
    borders.push_back(corners ? std::pair(0.0, extent - 1) : std::pair(-0.5, extent - 0.5));
    at = toPixelCoordinates(b, at, extent, borders[d], how);
    taps.push_back(computeInterpolationTaps(b, at, mode));
  }
  if (!b.ok())
    return {};
  size_t perDim = taps[0].size(), combinations = 1;
  for (int64_t d = 0; d < spatial; ++d)
    combinations *= perDim;
  Value sum;
  for (size_t k = 0; k < combinations && b.ok(); ++k) {
    std::vector<Value> places;
    Value weight;
    size_t rest = k;
    for (int64_t d = 0; d < spatial; ++d, rest /= perDim) {
      const Tap &tap = taps[d][rest % perDim];
      Value place = tap.place;
      if (padding == "reflection")
        place = reflectCoordinates(b, place, borders[d].first, borders[d].second);
      Value index = b.cast(place, b.i64);
      Value part = tap.weight;
      if (padding == "zeros") {
        Value inside = isInside(b, index, b.dim(x, 2 + d));
        part = part ? b.select(inside, part, b.like(part, 0)) : b.cast(inside, b.elem(place));
      }
      if (part)
        weight = weight ? b.mul(weight, part) : part;
      places.push_back(index);
    }
    Value term = samplePoints(b, x, places);
    if (weight) {
      // A pixel outside the image counts as 0. The nearest pixel is masked by a select, because it
      // may be infinite or NaN.
      if (mode == "nearest")
        term = b.select(b.cast(b.expandDims(weight, 1), b.i1), term, b.like(term, 0));
      else
        term = b.mul(term, b.cast(b.expandDims(weight, 1), b.elem(term)));
    }
    sum = sum ? b.add(sum, term) : term;
  }
  return b.reshape(sum, outShape);
}

} // namespace dlc::frontend

//===- Resize.cpp - image resizing, one axis at a time --------------------===//
// Interpolation is separable, and the scales are known at import. So each axis is resized by a
// weighted sum of gathers with constant indices.
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

struct ResizeOptions {
  std::string mode, coordinates, nearest;
  bool antialias = false, excludeOutside = false;
  double cubic = -0.75, extrapolation = 0;
};

struct ResizedAxis {
  int64_t axis, in, out;
  double scale;
  /// Normalized start and end of the region that tf_crop_and_resize crops along the axis.
  double start = 0, end = 1;
};

/// Returns the input coordinate of the result's index i, as the attribute
/// `coordinate_transformation_mode` specifies.
double computeSourceCoordinate(const ResizeOptions &s, const ResizedAxis &a, double i) {
  double width = a.scale * double(a.in), in = double(a.in);
  if (s.coordinates == "align_corners")
    return width == 1 ? 0 : i * (in - 1) / (width - 1);
  if (s.coordinates == "asymmetric")
    return i / a.scale;
  if (s.coordinates == "tf_crop_and_resize") {
    double span = (a.end - a.start) * (in - 1);
    return a.start * (in - 1) + (width == 1 ? span / 2 : i * span / (width - 1));
  }
  if (s.coordinates == "pytorch_half_pixel" && a.out <= 1)
    return 0;
  double centre = (i + 0.5) / a.scale - 0.5;
  // half_pixel_symmetric keeps the center of the image in place, although the size of the result is
  // rounded.
  if (s.coordinates == "half_pixel_symmetric")
    return in / 2 * (1 - double(a.out) / width) + centre;
  return centre;
}

int64_t computeNearestIndex(const ResizeOptions &s, const ResizedAxis &a, double x) {
  // Resize in opset 10 has no `nearest_mode`: it rounds down to enlarge and up to shrink.
  const bool isSimple = s.nearest == "simple";
  if (s.nearest == "floor" || (isSimple && a.scale >= 1))
    return int64_t(std::floor(x));
  if (s.nearest == "ceil" || isSimple)
    return int64_t(std::ceil(x));
  return int64_t(s.nearest == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5));
}

double interpolationKernel(const ResizeOptions &s, double distance) {
  double x = std::abs(distance), a = s.cubic;
  if (s.mode == "linear")
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Value resizeAxis(Build &b, Value x, const ResizeOptions &s, const ResizedAxis &a) {
  bool crop = s.coordinates == "tf_crop_and_resize";
  if (a.in == a.out && a.scale == 1 && !crop)
    return x;
  if (!b.require(a.in > 0 || a.out == 0, "an empty axis cannot be resized"))
    return {};
  double shrink = s.antialias ? std::min(a.scale, 1.0) : 1.0;
  int64_t reach =
      s.mode == "nearest" ? 0 : int64_t(std::ceil((s.mode == "linear" ? 1 : 2) / shrink));
  if (!b.require(reach <= 4096 && a.out < (int64_t(1) << 24) &&
                     (2 * reach + 1) * a.out < (int64_t(1) << 26),
                 "the scale is too small or the result too large"))
    return {};
  int64_t taps = s.mode == "nearest" ? 1 : 2 * reach + 1;
  std::vector<Dims> places(taps);
  std::vector<std::vector<double>> weights(taps);
  Dims outside;
  for (int64_t i = 0; i < a.out; ++i) {
    double at = computeSourceCoordinate(s, a, double(i));
    outside.push_back(at < 0 || at > double(a.in - 1));
    auto inside = [&](int64_t place) { return std::clamp<int64_t>(place, 0, a.in - 1); };
    if (s.mode == "nearest") {
      places[0].push_back(inside(computeNearestIndex(s, a, at)));
      weights[0].push_back(1);
      continue;
    }
    int64_t first = int64_t(std::floor(at)) - reach + 1;
    double total = 0;
    for (int64_t k = 0; k < taps; ++k) {
      int64_t place = first + k - (shrink < 1 ? 1 : 0);
      double weight = interpolationKernel(s, (double(place) - at) * shrink);
      if (s.excludeOutside && (place < 0 || place >= a.in))
        weight = 0;
      places[k].push_back(inside(place));
      weights[k].push_back(weight);
      total += weight;
    }
    for (int64_t k = 0; k < taps && total != 0; ++k)
      weights[k].back() /= total;
  }
  Value sum;
  Dims broadcastShape(b.rank(x), 1);
  broadcastShape[a.axis] = a.out;
  for (int64_t k = 0; k < taps; ++k) {
    if (taps > 1 && a.out > 0 && llvm::all_of(weights[k], [](double w) { return w == 0; }))
      continue;
    Value part = b.gather(x, b.ints(places[k]), a.axis);
    if (s.mode != "nearest")
      part = b.mul(part, b.floats(weights[k], broadcastShape, b.elem(x)));
    sum = sum ? b.add(sum, part) : part;
  }
  if (crop)
    sum = b.select(b.ints(outside, broadcastShape, b.i1), b.like(x, s.extrapolation), sum);
  return sum;
}

bool checkOptionValue(Node &n, StringRef name, StringRef value, ArrayRef<StringRef> values) {
  if (llvm::is_contained(values, value))
    return true;
  std::string all;
  for (StringRef v : values)
    all += (all.empty() ? "" : ", ") + v.str();
  n.unsupported(name, value, all);
  return false;
}

/// Reads and checks the attributes of the interpolation. `old`: Upsample or Resize in opset 10,
/// which have no attributes for coordinates.
bool readOptions(Node &n, bool old, bool isBlocked, ResizeOptions &s) {
  s.mode = n.string("mode", "nearest");
  s.coordinates =
      old ? "asymmetric"
          : n.string("coordinate_transformation_mode", isBlocked ? "asymmetric" : "half_pixel");
  s.nearest = old ? "simple" : isBlocked ? "floor" : n.string("nearest_mode", "round_prefer_floor");
  s.antialias = n.integer("antialias", 0) != 0;
  s.excludeOutside = n.integer("exclude_outside", 0) != 0;
  s.cubic = n.real("cubic_coeff_a", -0.75);
  s.extrapolation = n.real("extrapolation_value", 0);
  if (s.mode == "bilinear" || s.mode == "trilinear")
    s.mode = "linear";
  return checkOptionValue(n, "mode", s.mode, {"nearest", "linear", "cubic"}) &&
         checkOptionValue(n, "coordinate_transformation_mode", s.coordinates,
                          {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                           "align_corners", "asymmetric", "tf_crop_and_resize"}) &&
         (old || checkOptionValue(n, "nearest_mode", s.nearest,
                                  {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
}

/// Returns the scale that all axes have with the policy `not_larger` or `not_smaller`.
double computeCommonScale(Build &b, Value x, const Dims &axes, const Dims &sizes,
                          StringRef policy) {
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    double ratio = double(sizes[i]) / double(std::max<int64_t>(1, b.dim(x, axes[i])));
    common = i == 0                   ? ratio
             : policy == "not_larger" ? std::min(common, ratio)
                                      : std::max(common, ratio);
  }
  return common;
}

void resize(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  // Upsample, and Resize in opset 10, have two operands and no attributes for coordinates. Their
  // settings are fixed.
  bool isBlocked = n.proto.domain() == blocked;
  bool old = !isBlocked && (n.proto.op_type() == "Upsample" || n.opset < 11);
  ResizeOptions s;
  if (!readOptions(n, old, isBlocked, s))
    return;
  Dims all;
  for (int64_t i = 0; i < rank; ++i)
    all.push_back(i);
  Dims axes = n.integers("axes", all);
  std::optional<ref::Tensor> scales, roi;
  Dims sizes;
  int64_t scaleInput = old ? 1 : 2;
  const bool isScaled = n.has(scaleInput) && b.count(n.in(scaleInput)) > 0,
             isSized = !old && !isBlocked && n.has(3) && b.count(n.in(3)) > 0;
  if (!b.require(!isScaled || !isSized,
                 "the size is given twice; required: 'scales' or 'sizes'; found: both; remove one "
                 "of them") ||
      !b.require(!s.antialias || s.mode != "nearest",
                 "attribute 'antialias' contradicts 'mode'; required: linear or cubic; found: "
                 "nearest; remove the attribute"))
    return;
  axes = b.distinctAxes(axes, rank);
  if (isScaled)
    scales = b.need(n.in(scaleInput), "the scales");
  else if (isBlocked)
    scales = b.known(b.cast(b.ints(n.integers("scales")), b.f32));
  else if (n.hasAttr("scales"))
    scales = b.known(b.floats(n.reals("scales"), {int64_t(n.reals("scales").size())}, b.f32));
  else if (n.has(3))
    sizes = b.needInts(n.in(3), "the sizes");
  if (s.coordinates == "tf_crop_and_resize")
    roi = b.need(n.in(1), "the region of interest");
  size_t given = scales ? size_t(scales->size()) : sizes.size();
  if (!b.ok() ||
      !b.require(given == axes.size() && (!roi || roi->size() == int64_t(2 * axes.size())),
                 "required one scale or size per axis, " + Twine(axes.size()) + ", found " +
                     Twine(given)))
    return;
  std::string policy = n.string("keep_aspect_ratio_policy", "stretch");
  if (!checkOptionValue(n, "keep_aspect_ratio_policy", policy,
                        {"stretch", "not_larger", "not_smaller"}))
    return;
  double common = 0;
  if (!scales && policy != "stretch")
    common = computeCommonScale(b, x, axes, sizes, policy);
  Type element = b.elem(x);
  if (s.mode != "nearest" && !b.isFloat(x))
    x = b.cast(x, b.f32);
  for (size_t i = 0; i < axes.size() && b.ok(); ++i) {
    ResizedAxis a;
    a.axis = axes[i];
    a.in = b.dim(x, a.axis);
    if (scales) {
      a.scale = scales->getDouble(int64_t(i));
      a.out = a.scale > 0 && a.scale < 1e9 ? int64_t(std::floor(a.scale * double(a.in))) : -1;
    } else if (policy == "stretch") {
      a.out = sizes[i];
      a.scale = double(a.out) / double(std::max<int64_t>(1, a.in));
    } else {
      a.scale = common;
      a.out = int64_t(std::floor(common * double(a.in) + 0.5));
    }
    if (roi) {
      a.start = roi->getDouble(int64_t(i));
      a.end = roi->getDouble(int64_t(i + axes.size()));
    }
    if (!b.require(a.out >= 0 && a.scale >= 0, "a scale or size is negative, zero or too large"))
      return;
    x = resizeAxis(b, x, s, a);
  }
  n.set(0, b.cast(x, element));
}

const Operator table[] = {
    {"Resize", resize},
    {"Upsample", resize},
    {"Upsample", 1, resize, "coordinate_transformation_mode mode scales", blocked},
};

} // namespace

ArrayRef<Operator> resizeOperators() { return table; }

} // namespace dlc::onnxfront

//===- Pool.cpp - pooling -------------------------------------------------===//
#include "frontend/aten/math/Axis.h"

using namespace mlir;

namespace dlc::aten {
namespace {

struct PoolWindow {
  Value x;
  /// Whether x was given without a batch dimension. x then has a batch dimension of 1.
  bool single = false;
  Dims window, strides, dilations, low, high, counted;

  std::vector<NamedAttribute> attributes(Build &b) const {
    return {b.attr("window", window), b.attr("strides", strides), b.attr("dilations", dilations),
            b.attr("low", low), b.attr("high", high)};
  }
};

/// Reads the image x and adds the batch dimension if it is missing. Returns whether the image is
/// valid.
bool readImage(Node &n, Build &b, int64_t spatial, PoolWindow &w) {
  w.x = n.tensor("self");
  w.single = b.rank(w.x) == spatial + 1;
  if (w.single)
    w.x = b.expandDims(w.x, 0);
  return b.require(b.rank(w.x) == spatial + 2, "required: x [N, C, spatial..]");
}

PoolWindow readPoolWindow(Node &n, Build &b, int64_t spatial) {
  PoolWindow w;
  if (!readImage(n, b, spatial, w))
    return w;
  w.window = n.ints("kernel_size", spatial);
  w.strides = n.ints("stride").empty() ? w.window : n.ints("stride", spatial);
  w.dilations = n.ints("dilation", spatial, 1);
  w.low = n.ints("padding", spatial, 0);
  w.high = w.counted = w.low;
  for (int64_t i = 0; n.flag("ceil_mode") && b.ok() && i < spatial; ++i) {
    size_t d = size_t(i);
    int64_t extent = b.dim(w.x, 2 + i), span = (w.window[d] - 1) * w.dilations[d] + 1;
    int64_t room = extent + 2 * w.low[d] - span, stride = w.strides[d];
    if (room < 0 || stride < 1)
      continue;
    int64_t out = (room + stride - 1) / stride + 1;
    // With `ceil_mode`, a window must not start in the padding at the end.
    if ((out - 1) * stride >= extent + w.low[d])
      --out;
    w.high[d] += (out - 1) * stride - room;
  }
  return w;
}

Value removeBatchDim(Build &b, const PoolWindow &w, Value y) {
  return w.single && y ? b.reshape(y, Dims(b.shape(y).begin() + 1, b.shape(y).end())) : y;
}

/// Returns whether each element's position in a window is below 256, so that it fits into a byte.
bool windowPositionsFitByte(const PoolWindow &w) {
  constexpr int64_t places = 256;
  int64_t count = 1;
  for (int64_t size : w.window)
    count *= size;
  return count <= places;
}

int64_t imageSize(Build &b, const PoolWindow &w) {
  return b.count(w.x) / std::max<int64_t>(1, b.dim(w.x, 0) * b.dim(w.x, 1));
}

/// Returns the start coordinate of each window along a spatial dimension of the image, in i32 and
/// in a shape that broadcasts to y.
Value computeWindowStarts(Build &b, const PoolWindow &w, Value y, int64_t spatial) {
  size_t d = size_t(spatial);
  Dims shape(size_t(b.rank(y)), 1);
  shape[d + 2] = b.dim(y, spatial + 2);
  Value out = b.iota(b.i32, shape, spatial + 2);
  return b.sub(b.mul(out, b.scalarInt(b.i32, w.strides[d])), b.scalarInt(b.i32, w.low[d]));
}

/// Extracts the last digit of a mixed-radix number: returns the remainder of `number` by `base` and
/// replaces `number` by the quotient. `number` is not negative.
Value extractLastDigit(Build &b, Value &number, int64_t base) {
  Value divisor = b.scalarInt(b.i32, base), quotient = b.div(number, divisor);
  Value digit = b.sub(number, b.mul(quotient, divisor));
  number = quotient;
  return digit;
}

/// Converts positions in a window (bytes) to row-major indices in the image, in i32.
Value windowPositionsToIndices(Build &b, const PoolWindow &w, Value position) {
  Value rest = b.cast(position, b.i32), place;
  int64_t after = 1;
  for (int64_t i = int64_t(w.window.size()) - 1; i >= 0; --i) {
    size_t d = size_t(i);
    Value tap = i ? extractLastDigit(b, rest, w.window[d]) : rest;
    Value at = b.add(computeWindowStarts(b, w, position, i),
                     b.mul(tap, b.scalarInt(b.i32, w.dilations[d])));
    at = b.mul(at, b.scalarInt(b.i32, after));
    place = place ? b.add(place, at) : at;
    after *= b.dim(w.x, i + 2);
  }
  return place;
}

/// Converts row-major indices in the image to positions in their windows (bytes).
Value indicesToWindowPositions(Build &b, const PoolWindow &w, Value places) {
  Value rest = b.cast(places, b.i32), position;
  int64_t after = 1;
  for (int64_t i = int64_t(w.window.size()) - 1; i >= 0; --i) {
    size_t d = size_t(i);
    Value at = i ? extractLastDigit(b, rest, b.dim(w.x, i + 2)) : rest;
    Value tap = b.sub(at, computeWindowStarts(b, w, places, i));
    if (w.dilations[d] != 1)
      tap = b.div(tap, b.scalarInt(b.i32, w.dilations[d]));
    tap = b.mul(tap, b.scalarInt(b.i32, after));
    position = position ? b.add(position, tap) : tap;
    after *= w.window[d];
  }
  return b.cast(position, b.b.getIntegerType(8, /*isSigned=*/false));
}

/// Max pooling that returns the maxima and their row-major indices in the image, in i32 or i64.
/// PyTorch's indices refer to the image, whereas dlc's operations return positions in the window or
/// indices in the whole tensor.
std::pair<Value, Value> buildMaxPoolWithIndices(Build &b, const PoolWindow &w) {
  bool bytes = windowPositionsFitByte(w) && b.isFloat(w.x) && Build::isSane(imageSize(b, w), 0);
  auto made = bytes ? b.ops<MaxPoolPositionsOp>({w.x}, w.attributes(b))
                    : b.ops<MaxPoolIndicesOp>({w.x}, w.attributes(b));
  if (made.size() != 2)
    return {};
  return {made[0], bytes ? windowPositionsToIndices(b, w, made[1])
                         : b.rem(made[1], b.scalarInt(b.i64, imageSize(b, w)))};
}

void setMaxPoolResults(Node &n, Build &b, const PoolWindow &w, Value y, Value places) {
  n.set(0, removeBatchDim(b, w, y));
  n.set(1, removeBatchDim(b, w, b.cast(places, b.i64)));
}

template <int spatial> void maxPool(Node &n, Build &b) {
  PoolWindow w = readPoolWindow(n, b, spatial);
  if (!b.ok())
    return;
  if (!n.hasResult(1))
    return n.set(removeBatchDim(b, w, b.op<MaxPoolOp>({w.x}, w.attributes(b))));
  auto [y, places] = buildMaxPoolWithIndices(b, w);
  setMaxPoolResults(n, b, w, y, places);
}

/// Adds the batch dimension to an operand if x was given without one.
Value addBatchDim(Build &b, const PoolWindow &w, Value y) {
  return w.single ? b.expandDims(y, 0) : y;
}

std::vector<NamedAttribute> poolGradientAttributes(Build &b, const PoolWindow &w) {
  auto attributes = w.attributes(b);
  attributes.push_back(b.attr("spatial", Dims(b.shape(w.x).begin() + 2, b.shape(w.x).end())));
  return attributes;
}

/// Gradient of max pooling: adds each gradient to the element of the image that was the maximum.
void setMaxPoolGradient(Node &n, Build &b, const PoolWindow &w, bool alike) {
  Value dy = addBatchDim(b, w, n.tensor("grad_output")),
        indices = addBatchDim(b, w, n.tensor("indices"));
  if (!b.ok())
    return;
  if (alike && windowPositionsFitByte(w) && Build::isSane(imageSize(b, w), 0))
    return n.set(removeBatchDim(b, w,
                                b.op<MaxPoolGradOp>({dy, indicesToWindowPositions(b, w, indices)},
                                                    poolGradientAttributes(b, w))));
  Dims planes{b.dim(dy, 0), b.dim(dy, 1), -1}, places = planes;
  planes[2] = imageSize(b, w);
  places[2] = b.count(dy) / std::max<int64_t>(1, places[0] * places[1]);
  Value sum = b.op<ScatterElementsOp>(
      {b.splat(b.elem(dy), planes, 0), b.reshape(indices, places), b.reshape(dy, places)},
      {b.attr("axis", int64_t(2)),
       b.attr("reduction", ScatterReductionAttr::get(b.context, ScatterReduction::add))});
  n.set(removeBatchDim(b, w, b.reshape(sum, b.dims(w.x))));
}

template <int spatial> void maxPoolGradient(Node &n, Build &b) {
  PoolWindow w = readPoolWindow(n, b, spatial);
  if (b.ok())
    setMaxPoolGradient(n, b, w, /*alike=*/true);
}

/// Returns the attributes of avg_pool that specify which padding counts, and the factor by which
/// its result is multiplied for `divisor_override`. With an override all elements of a window
/// count, including padding at the end.
std::pair<std::vector<NamedAttribute>, double> readAveragePoolAttributes(Node &n, Build &b,
                                                                         const PoolWindow &w) {
  bool fixed = n.has("divisor_override");
  std::vector<NamedAttribute> attributes{b.attr("counted_high", fixed ? w.high : w.counted)};
  if (n.flag("count_include_pad", true) || fixed)
    attributes.push_back(b.attrUnit("include_pad"));
  if (!fixed)
    return {attributes, 1};
  double taps = 1;
  for (int64_t size : w.window)
    taps *= double(size);
  return {attributes, taps / double(n.integer("divisor_override"))};
}

template <int spatial> void averagePool(Node &n, Build &b) {
  PoolWindow w = readPoolWindow(n, b, spatial);
  if (!b.ok())
    return;
  auto [attributes, factor] = readAveragePoolAttributes(n, b, w);
  llvm::append_range(attributes, w.attributes(b));
  // PyTorch truncates averages of integers.
  bool isWhole = !b.isFloat(w.x);
  Value y = b.op<AvgPoolOp>({isWhole ? b.cast(w.x, b.b.getF64Type()) : w.x}, attributes);
  y = factor == 1 ? y : b.mul(y, factor);
  n.set(removeBatchDim(b, w, isWhole ? b.cast(y, b.elem(w.x)) : y));
}

template <int spatial> void averagePoolGradient(Node &n, Build &b) {
  PoolWindow w = readPoolWindow(n, b, spatial);
  if (!b.ok())
    return;
  auto [attributes, factor] = readAveragePoolAttributes(n, b, w);
  llvm::append_range(attributes, poolGradientAttributes(b, w));
  Value dx = b.op<AvgPoolGradOp>({addBatchDim(b, w, n.tensor("grad_output"))}, attributes);
  n.set(removeBatchDim(b, w, factor == 1 ? dx : b.mul(dx, factor)));
}

/// Returns the elements of a dimension of size `in` that adaptive average pooling averages for each
/// of the `out` elements, with their weights.
std::vector<ResampleWeight> computeAdaptiveWeights(int64_t in, int64_t out) {
  std::vector<ResampleWeight> shares;
  for (int64_t o = 0; o < out; ++o) {
    int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
    for (int64_t k = begin; k < end; ++k)
      shares.push_back({o, k, 1.0 / double(end - begin)});
  }
  return shares;
}

/// Windows that split an image into the number of parts that adaptive pooling requires. `alike` is
/// set if all windows have the same size.
struct AdaptiveWindows {
  PoolWindow w;
  bool alike = true;
};

AdaptiveWindows computeAdaptiveWindows(Node &n, Build &b, const Dims &sizes, int64_t spatial) {
  AdaptiveWindows parts;
  PoolWindow &w = parts.w;
  if (!readImage(n, b, spatial, w))
    return parts;
  w.dilations.assign(size_t(spatial), 1);
  w.low = w.high = w.counted = Dims(size_t(spatial), 0);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t in = b.dim(w.x, 2 + i), out = sizes[size_t(i)];
    if (!b.require(in > 0 && out > 0, "required: sizes of 1 or more"))
      return parts;
    parts.alike &= in % out == 0;
    int64_t most = 0;
    for (int64_t o = 0; o < out; ++o)
      most = std::max(most, ((o + 1) * in + out - 1) / out - o * in / out);
    w.window.push_back(most);
  }
  w.strides = w.window;
  return parts;
}

/// Adaptive max pooling. If the windows have different sizes, first gathers an image in which all
/// have the same size. Smaller windows repeat their last element, which does not change the
/// maximum.
template <int spatial> void adaptiveMaxPool(Node &n, Build &b) {
  Dims sizes = n.ints("output_size", spatial);
  auto [w, alike] = computeAdaptiveWindows(n, b, sizes, spatial);
  if (!b.ok())
    return;
  PoolWindow even = w;
  std::vector<Dims> from(spatial);
  for (int64_t i = 0; !alike && i < spatial; ++i) {
    size_t d = size_t(i);
    int64_t in = b.dim(w.x, 2 + i), out = sizes[d];
    for (int64_t o = 0; o < out; ++o)
      for (int64_t k = 0; k < w.window[d]; ++k)
        from[d].push_back(std::min(o * in / out + k, ((o + 1) * in + out - 1) / out - 1));
    even.x = b.gather(even.x, b.ints(from[d]), 2 + i);
  }
  if (!n.hasResult(1))
    return n.set(removeBatchDim(b, w, b.op<MaxPoolOp>({even.x}, even.attributes(b))));
  auto [y, places] = buildMaxPoolWithIndices(b, even);
  if (!alike) {
    Value rest = b.cast(places, b.i32), place;
    int64_t after = 1;
    for (int64_t i = spatial - 1; i >= 0; --i) {
      Value digit = i ? extractLastDigit(b, rest, b.dim(even.x, 2 + i)) : rest;
      Value at = b.gather(b.ints(from[size_t(i)]), digit, 0);
      at = b.mul(at, b.scalarInt(b.i64, after));
      place = place ? b.add(place, at) : at;
      after *= b.dim(w.x, 2 + i);
    }
    places = place;
  }
  setMaxPoolResults(n, b, w, y, places);
}

template <int spatial> void adaptiveMaxPoolGradient(Node &n, Build &b) {
  Value dy = n.tensor("grad_output");
  if (!b.require(b.rank(dy) >= spatial, "required: grad_output [.., C, spatial..]"))
    return;
  auto [w, alike] =
      computeAdaptiveWindows(n, b, Dims(b.shape(dy).end() - spatial, b.shape(dy).end()), spatial);
  if (b.ok())
    setMaxPoolGradient(n, b, w, alike);
}

/// Adaptive average pooling. If the result size is 1, it is a mean over the dimension; otherwise it
/// is a matmul with a matrix of weights.
template <int spatial> void adaptiveAveragePool(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t first = b.rank(x) - spatial;
  Dims sizes = n.ints("output_size", spatial);
  if (!b.require(first >= 1, "required: x [.., C, spatial..]") || !b.ok())
    return;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t in = b.dim(x, first + i), out = sizes[size_t(i)];
    if (!b.require(in > 0 && out > 0, "required: sizes of 1 or more") || in == out)
      continue;
    x = out == 1 ? b.reduce(ReduceKind::mean, x, {first + i}, true)
                 : resampleByMatmul(b, x, first + i, out, computeAdaptiveWeights(in, out));
  }
  n.set(x);
}

/// Gradient of adaptive average pooling: a matmul with the transposed matrix of weights.
template <int spatial> void adaptiveAveragePoolGradient(Node &n, Build &b) {
  Value dx = n.tensor("grad_output"), x = n.tensor("self");
  int64_t first = b.rank(x) - spatial;
  if (!b.require(first >= 1 && b.rank(dx) == b.rank(x), "required: x [.., C, spatial..]"))
    return;
  for (int64_t i = 0; b.ok() && i < spatial; ++i) {
    int64_t in = b.dim(x, first + i), out = b.dim(dx, first + i);
    if (!b.require(in > 0 && out > 0, "required: sizes of 1 or more") || in == out)
      continue;
    if (out == 1) {
      Dims shape = b.dims(dx);
      shape[size_t(first + i)] = in;
      dx = b.broadcast(b.mul(dx, 1.0 / double(in)), shape);
      continue;
    }
    std::vector<ResampleWeight> shares = computeAdaptiveWeights(in, out);
    for (ResampleWeight &share : shares)
      std::swap(share.to, share.from);
    dx = resampleByMatmul(b, dx, first + i, in, shares);
  }
  n.set(dx);
}

const Operator table[] = {
    {"max_pool1d_with_indices.default", maxPool<1>},
    {"max_pool2d_with_indices.default", maxPool<2>},
    {"max_pool3d_with_indices.default", maxPool<3>},
    {"max_pool2d_with_indices_backward.default", maxPoolGradient<2>},
    {"max_pool3d_with_indices_backward.default", maxPoolGradient<3>},
    {"avg_pool1d.default", averagePool<1>},
    {"avg_pool2d.default", averagePool<2>},
    {"avg_pool3d.default", averagePool<3>},
    {"avg_pool2d_backward.default", averagePoolGradient<2>},
    {"avg_pool3d_backward.default", averagePoolGradient<3>},
    {"adaptive_max_pool2d.default", adaptiveMaxPool<2>},
    {"adaptive_max_pool3d.default", adaptiveMaxPool<3>},
    {"adaptive_max_pool2d_backward.default", adaptiveMaxPoolGradient<2>},
    {"adaptive_max_pool3d_backward.default", adaptiveMaxPoolGradient<3>},
    {"adaptive_avg_pool1d.default", adaptiveAveragePool<1>},
    {"_adaptive_avg_pool2d.default", adaptiveAveragePool<2>},
    {"_adaptive_avg_pool3d.default", adaptiveAveragePool<3>},
    {"_adaptive_avg_pool2d_backward.default", adaptiveAveragePoolGradient<2>},
    {"_adaptive_avg_pool3d_backward.default", adaptiveAveragePoolGradient<3>},
};

} // namespace

ArrayRef<Operator> poolOperators() { return table; }

} // namespace dlc::aten

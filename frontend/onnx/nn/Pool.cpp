//===- Pool.cpp - pooling -------------------------------------------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/nn/Window.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Reads the window attributes of a pool and checks that the pads are not negative.
static WindowAttributes readPoolWindow(Node &n, Build &b, Value x) {
  WindowAttributes w = readWindowAttributes(n, b, x, {});
  for (size_t i = 0; b.ok() && i < w.kernel.size(); ++i)
    for (int64_t pad : {w.low[i], w.high[i] - w.ceilExtra[i]})
      b.require(pad >= 0, "a pad of the pool is negative; required: 0 or more; found: " +
                              Twine(pad) + "; correct the attribute 'pads'");
  return w;
}

/// Builds an average pool. If `includePad` is set (`count_include_pad`), padding counts as
/// elements; `counted` is the part of the padding at the end that counts.
static Value averageOf(Build &b, Value x, const WindowAttributes &w, ArrayRef<int64_t> counted,
                       bool includePad) {
  auto attributes = w.attributes(b, true);
  attributes.push_back(b.attr("counted_high", counted));
  if (includePad)
    attributes.push_back(b.attrUnit("include_pad"));
  return b.op<AvgPoolOp>({x}, attributes);
}

Value buildAveragePool(Node &n, Build &b, Value x) {
  WindowAttributes w = readPoolWindow(n, b, x);
  Dims counted = w.high;
  for (size_t i = 0; b.ok() && i < counted.size(); ++i)
    counted[i] -= w.ceilExtra[i];
  return averageOf(b, x, w, counted, n.integer("count_include_pad", 0));
}

namespace {

void maxPool(Node &n, Build &b) {
  WindowAttributes w = readPoolWindow(n, b, n.in(0));
  auto attributes = w.attributes(b, true);
  const bool isColumnMajor = n.flag("storage_order");
  if (!n.hasOutput(1))
    return n.set(0, b.op<MaxPoolOp>({n.in(0)}, attributes));
  if (isColumnMajor)
    attributes.push_back(b.attrUnit("column_major"));
  auto both = b.ops<MaxPoolIndicesOp>({n.in(0)}, attributes);
  if (both.size() != 2)
    return;
  n.set(0, both[0]);
  n.set(1, both[1]);
}

/// NhwcMaxPool: max pooling of x [N, spatial.., C], whose last dimension is the channels.
void nhwcMaxPool(Node &n, Build &b) {
  Value x = moveChannelsFirst(b, n.in(0));
  WindowAttributes w = readWindowAttributes(n, b, x, {});
  n.set(0, moveChannelsLast(b, b.op<MaxPoolOp>({x}, w.attributes(b, true))));
}

void averagePool(Node &n, Build &b) { n.set(0, buildAveragePool(n, b, n.in(0))); }

/// Returns the p-th root of a sum of p-th powers, (sum |x|^p)^(1/p), for LpPool.
Value buildRoot(Build &b, Value sum, double p) {
  return p == 1 ? sum : b.pow(sum, b.like(sum, 1 / p));
}
Value buildAbsPower(Build &b, Value x, double p) {
  Value a = b.unary<AbsOp>(x);
  return p == 1 ? a : p == 2 ? b.mul(a, a) : b.pow(a, b.like(a, p));
}

void lpPool(Node &n, Build &b) {
  WindowAttributes w = readPoolWindow(n, b, n.in(0));
  double p = double(n.integer("p", 2)), taps = 1;
  if (!b.ok() || !b.require(p > 0, "attribute 'p' must be positive"))
    return;
  for (int64_t k : w.kernel)
    taps *= double(k);
  Value mean = averageOf(b, buildAbsPower(b, n.in(0), p), w, w.high, true);
  n.set(0, buildRoot(b, b.mul(mean, taps), p));
}

Dims spatialAxes(Build &b, Value x) {
  Dims axes;
  if (b.require(b.rank(x) >= 3, "required x [N, C, spatial..], found rank " + Twine(b.rank(x))))
    for (int64_t i = 2; i < b.rank(x); ++i)
      axes.push_back(i);
  return axes;
}

template <ReduceKind kind> void globalPool(Node &n, Build &b) {
  n.set(0, b.reduce(kind, n.in(0), spatialAxes(b, n.in(0)), true));
}

void globalLpPool(Node &n, Build &b) {
  double p = double(n.integer("p", 2));
  if (b.require(p > 0, "attribute 'p' must be positive"))
    n.set(0, buildRoot(b,
                       b.reduce(ReduceKind::sum, buildAbsPower(b, n.in(0), p),
                                spatialAxes(b, n.in(0)), true),
                       p));
}

/// MaxUnpool. The indices refer to the flattened tensor that was pooled. If `output_shape` is
/// larger than that tensor, the tensor is placed at the start.
void maxUnpool(Node &n, Build &b) {
  Value x = n.in(0), indices = n.in(1);
  WindowAttributes w = readWindowAttributes(n, b, x, {});
  if (!b.ok() || !b.require(b.shape(indices) == b.shape(x), "the indices must have x's shape"))
    return;
  int64_t spatial = w.spatial();
  Dims pooled{b.dim(x, 0), b.dim(x, 1)};
  int64_t total = pooled[0] * pooled[1];
  for (int64_t i = 0; i < spatial; ++i) {
    pooled.push_back((b.dim(x, 2 + i) - 1) * w.strides[i] - w.low[i] - w.high[i] + w.kernel[i]);
    if (!b.require(pooled.back() >= 0, "a dimension of the result would be negative"))
      return;
    total *= pooled.back();
  }
  Value flat = b.scatter(b.splat(b.elem(x), {total}, 0), b.flatten(indices), b.flatten(x), 0);
  Value y = b.reshape(flat, pooled);
  if (n.has(2)) {
    Dims target = b.needInts(n.in(2), "the output's shape"), low(pooled.size(), 0), high;
    if (!b.ok() ||
        !b.require(target.size() == pooled.size(), "the output's shape must have x's rank"))
      return;
    for (size_t i = 0; i < target.size(); ++i) {
      if (!b.require(Build::isSane(target[i], 0), "the output's shape is invalid"))
        return;
      high.push_back(target[i] - pooled[i]);
    }
    y = b.padZero(y, low, high);
  }
  n.set(0, y);
}

const Operator table[] = {
    {"MaxPool", maxPool},
    {"AveragePool", averagePool},
    {"LpPool", lpPool},
    {"GlobalAveragePool", globalPool<ReduceKind::mean>},
    {"GlobalMaxPool", globalPool<ReduceKind::max>},
    {"GlobalLpPool", globalLpPool},
    {"MaxUnpool", maxUnpool},
    {"NhwcMaxPool", 1, nhwcMaxPool, "auto_pad ceil_mode dilations kernel_shape pads strides",
     microsoft},
    {"MaxPool", 1, maxPool, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
     blocked},
    {"AveragePool", 1, averagePool,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides", blocked},
    {"GlobalAveragePool", 1, globalPool<ReduceKind::mean>, "", blocked},
    {"GlobalMaxPool", 1, globalPool<ReduceKind::max>, "", blocked},
};

} // namespace

ArrayRef<Operator> poolOperators() { return table; }

} // namespace dlc::onnxfront

//===- Pool.cpp - pooling -------------------------------------------------===//
#include "frontend/aten/Axis.h"

using namespace mlir;

namespace dlc::aten {
namespace {

struct Window {
  Value x;
  /// x came without its batch.
  bool single = false;
  Dims window, strides, dilations, low, high, counted;

  std::vector<NamedAttribute> attributes(Build &b) const {
    return {b.attr("window", window), b.attr("strides", strides), b.attr("dilations", dilations),
            b.attr("low", low), b.attr("high", high)};
  }
};

Window windowOf(Node &n, Build &b, int64_t spatial) {
  Window w;
  w.x = n.tensor("self");
  w.single = b.rank(w.x) == spatial + 1;
  if (w.single)
    w.x = b.expandDims(w.x, 0);
  if (!b.require(b.rank(w.x) == spatial + 2, "required: x [N, C, spatial..]"))
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
    // No window starts in the padding at the end.
    if ((out - 1) * stride >= extent + w.low[d])
      --out;
    w.high[d] += (out - 1) * stride - room;
  }
  return w;
}

Value withoutBatch(Build &b, const Window &w, Value y) {
  return w.single && y ? b.reshape(y, Dims(b.shape(y).begin() + 1, b.shape(y).end())) : y;
}

/// PyTorch counts a maximum's place in its image, dlc in the whole tensor.
template <int spatial> void maxPool(Node &n, Build &b) {
  Window w = windowOf(n, b, spatial);
  if (!b.ok())
    return;
  if (!n.wants(1))
    return n.set(withoutBatch(b, w, b.op<MaxPoolOp>({w.x}, w.attributes(b))));
  auto made = b.ops<MaxPoolIndicesOp>({w.x}, w.attributes(b));
  if (made.size() != 2)
    return;
  int64_t image = b.count(w.x) / std::max<int64_t>(1, b.dim(w.x, 0) * b.dim(w.x, 1));
  n.set(0, withoutBatch(b, w, made[0]));
  n.set(1, withoutBatch(b, w, b.rem(made[1], b.scalarInt(b.i64, image))));
}

template <int spatial> void averagePool(Node &n, Build &b) {
  Window w = windowOf(n, b, spatial);
  if (!b.ok())
    return;
  auto attributes = w.attributes(b);
  attributes.push_back(b.attr("counted_high", w.counted));
  bool fixed = n.has("divisor_override");
  if (n.flag("count_include_pad", true) || fixed)
    attributes.push_back(b.attrUnit("include_pad"));
  Value y = b.op<AvgPoolOp>({w.x}, attributes);
  if (fixed) {
    double taps = 1;
    for (int64_t size : w.window)
      taps *= double(size);
    bool cut = w.high != w.counted;
    if (!b.require(!cut, "argument 'divisor_override': required: no rounding up of the shape"))
      return;
    y = b.mul(y, taps / double(n.integer("divisor_override")));
  }
  n.set(withoutBatch(b, w, y));
}

/// Windows of one size are a pooling; others a product with the shares of each element.
template <int spatial> void adaptiveAverage(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t first = b.rank(x) - spatial;
  Dims sizes = n.ints("output_size", spatial);
  if (!b.require(first >= 1, "required: x [.., C, spatial..]") || !b.ok())
    return;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t in = b.dim(x, first + i), out = sizes[size_t(i)];
    if (!b.require(in > 0 && out > 0, "required: sizes of 1 or more") || in == out)
      continue;
    if (out == 1) {
      x = b.reduce(ReduceKind::mean, x, {first + i}, true);
      continue;
    }
    std::vector<Share> shares;
    for (int64_t o = 0; o < out; ++o) {
      int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
      for (int64_t k = begin; k < end; ++k)
        shares.push_back({o, k, 1.0 / double(end - begin)});
    }
    x = mixed(b, x, first + i, out, shares);
  }
  n.set(x);
}

const Operator table[] = {
    {"max_pool1d_with_indices.default", maxPool<1>},
    {"max_pool2d_with_indices.default", maxPool<2>},
    {"max_pool3d_with_indices.default", maxPool<3>},
    {"avg_pool1d.default", averagePool<1>},
    {"avg_pool2d.default", averagePool<2>},
    {"avg_pool3d.default", averagePool<3>},
    {"adaptive_avg_pool1d.default", adaptiveAverage<1>},
    {"_adaptive_avg_pool2d.default", adaptiveAverage<2>},
    {"_adaptive_avg_pool3d.default", adaptiveAverage<3>},
};

} // namespace

ArrayRef<Operator> poolOperators() { return table; }

} // namespace dlc::aten

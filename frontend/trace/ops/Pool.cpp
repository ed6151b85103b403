//===- Pool.cpp - max and average pooling ---------------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

namespace {
struct WindowSizes {
  std::vector<int64_t> window, stride, dilation, low, high, counted;
};

WindowSizes checkWindowSizes(ApiCall &call, const Operand &x, const Dims &window,
                             const PoolOptions &options) {
  RankedTensorType type = call.type(x);
  if (type.getRank() < 3)
    call.fail("x must be [N, C, spatial..]; found ", type,
              "; add a batch dimension with unsqueeze(x, 0)");
  size_t spatial = size_t(type.getRank() - 2);
  WindowSizes sizes;
  sizes.window = call.spread("window", window, spatial);
  sizes.stride =
      options.stride.empty() ? sizes.window : call.spread("stride", options.stride, spatial);
  sizes.dilation = call.spread("dilation", options.dilation, spatial);
  sizes.low = call.spread("padding", options.padding, spatial);
  sizes.high = options.high.empty() ? sizes.low : call.spread("high", options.high, spatial);
  sizes.counted = sizes.high;
  if (!options.ceilMode)
    return sizes;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t size = type.getDimSize(i + 2), stride = sizes.stride[i], low = sizes.low[i],
            high = sizes.high[i];
    int64_t extent = sizes.dilation[i] * (sizes.window[i] - 1) + 1;
    if (ShapedType::isDynamic(size))
      call.fail("all sizes must be known to round the result's sizes up; found ", type,
                "; give the traced inputs static shapes");
    if (stride < 1 || size + low + high < extent)
      continue;
    int64_t windows = (size + low + high - extent + stride - 1) / stride + 1;
    // With `ceil_mode`, the last window must start inside the tensor or its padding at the start,
    // not in the padding at the end.
    if ((windows - 1) * stride >= size + low)
      --windows;
    sizes.high[i] = std::max(high, (windows - 1) * stride + extent - size - low);
  }
  return sizes;
}

template <typename Op>
typename Op::Adaptor::Properties makePoolProperties(ApiCall &call, const WindowSizes &sizes) {
  typename Op::Adaptor::Properties properties;
  properties.window = call.list(sizes.window);
  properties.strides = call.list(sizes.stride);
  properties.dilations = call.list(sizes.dilation);
  properties.low = call.list(sizes.low);
  properties.high = call.list(sizes.high);
  return properties;
}
} // namespace

Tensor max_pool(const Operand &x, Dims window, const PoolOptions &options) {
  ApiCall call("max_pool", {&x});
  return call.tensor(call.make<MaxPoolOp>(
      call.value(x),
      makePoolProperties<MaxPoolOp>(call, checkWindowSizes(call, x, window, options))));
}

Tensor avg_pool(const Operand &x, Dims window, const PoolOptions &options) {
  ApiCall call("avg_pool", {&x});
  WindowSizes sizes = checkWindowSizes(call, x, window, options);
  auto all = makePoolProperties<AvgPoolOp>(call, sizes);
  // Padding that `ceil_mode` adds never counts as elements. Explicit padding counts if
  // `countPadding` is set (`count_include_pad`).
  all.counted_high = call.list(sizes.counted);
  all.include_pad = call.flag(options.countPadding);
  return call.tensor(call.make<AvgPoolOp>(call.value(x), all));
}

Tensor max_pool2d(const Operand &x, Dims window, const PoolOptions &options) {
  ApiCall call("max_pool2d", {&x});
  if (call.type(x).getRank() != 4)
    call.fail("x must be [N, C, H, W]; found ", call.type(x));
  return max_pool(x, std::move(window), options);
}

Tensor avg_pool2d(const Operand &x, Dims window, const PoolOptions &options) {
  ApiCall call("avg_pool2d", {&x});
  if (call.type(x).getRank() != 4)
    call.fail("x must be [N, C, H, W]; found ", call.type(x));
  return avg_pool(x, std::move(window), options);
}

Tensor adaptive_avg_pool2d(const Operand &x, Dims size) {
  ApiCall call("adaptive_avg_pool2d", {&x});
  RankedTensorType type = call.type(x);
  if (type.getRank() != 4)
    call.fail("x must be [N, C, H, W]; found ", type);
  std::vector<int64_t> wanted = call.spread("size", size, 2), window;
  if (wanted == std::vector<int64_t>{1, 1})
    return mean(x, {2, 3}, true);
  call.requireStatic(type, "for an adaptive pool");
  for (size_t i = 0; i < 2; ++i) {
    int64_t from = type.getDimSize(i + 2);
    if (wanted[i] < 1 || from % wanted[i] != 0)
      call.fail("the result's size must divide the input's; found ", wanted[i], " for ", type);
    window.push_back(from / wanted[i]);
  }
  return avg_pool(x, window);
}

} // namespace dlc::trace

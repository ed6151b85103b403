//===- Window.cpp - reads the attributes of sliding windows ---------------===//
#include "frontend/onnx/nn/Window.h"

using namespace mlir;

namespace dlc::onnxfront {

std::vector<NamedAttribute> WindowAttributes::attributes(Build &b, bool withKernel) const {
  std::vector<NamedAttribute> result{b.attr("strides", strides), b.attr("dilations", dilations),
                                     b.attr("low", low), b.attr("high", high)};
  if (withKernel)
    result.push_back(b.attr("window", kernel));
  return result;
}

WindowAttributes readWindowAttributes(Node &n, Build &b, Value x, Dims kernel) {
  int64_t spatial = b.rank(x) - 2;
  WindowAttributes w;
  if (!b.require(spatial >= 1, "required x [N, C, spatial..], found rank " + Twine(b.rank(x))))
    return w;
  if (n.hasAttr("kernel_shape")) {
    Dims given = n.integers("kernel_shape", spatial, 1);
    if (!b.require(kernel.empty() || kernel == given,
                   "attribute 'kernel_shape' does not match the shape of the weights"))
      return w;
    kernel = given;
  }
  if (!b.require(int64_t(kernel.size()) == spatial,
                 "attribute 'kernel_shape' is required, with one entry per spatial "
                 "dimension"))
    return w;
  w.kernel = kernel;
  w.strides = n.integers("strides", spatial, 1);
  w.dilations = n.integers("dilations", spatial, 1);
  Dims pads = n.integers("pads", 2 * spatial, 0);
  w.low.assign(pads.begin(), pads.begin() + spatial);
  w.high.assign(pads.begin() + spatial, pads.end());
  w.ceilExtra.assign(spatial, 0);
  std::string autoPad = n.string("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER", valid = autoPad == "VALID";
  if (!same && !valid && autoPad != "NOTSET")
    n.unsupported("auto_pad", autoPad, "NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  bool ceilMode = n.integer("ceil_mode", 0) != 0;
  for (int64_t i = 0; i < spatial && b.ok(); ++i) {
    auto sane = Build::isSane;
    constexpr int64_t least = -(int64_t(1) << 31);
    if (!b.require(
            sane(w.kernel[i], 1) && sane(w.strides[i], 1) && sane(w.dilations[i], 1) &&
                sane(w.low[i], least) && sane(w.high[i], least),
            "kernel, strides and dilations must be positive, and pads must not be too large"))
      break;
    int64_t extent = b.shape(x)[2 + i], span = (w.kernel[i] - 1) * w.dilations[i] + 1,
            stride = w.strides[i];
    if (valid)
      w.low[i] = w.high[i] = 0;
    if (same) {
      int64_t out = (extent + stride - 1) / stride;
      int64_t total = std::max<int64_t>(0, (out - 1) * stride + span - extent);
      w.low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
    }
    if (ceilMode && !same) {
      int64_t room = extent + w.low[i] + w.high[i] - span;
      int64_t out = room < 0 ? 0 : (room + stride - 1) / stride + 1;
      // With `ceil_mode`, a window must not start in the padding at the end.
      if (out > 0 && (out - 1) * stride >= extent + w.low[i])
        --out;
      if (out > 0)
        w.ceilExtra[i] = std::max<int64_t>(0, (out - 1) * stride - room);
      w.high[i] += w.ceilExtra[i];
    }
  }
  return w;
}

} // namespace dlc::onnxfront

//===- Window.h - attributes of sliding windows ---------------------------===//
#ifndef DLC_FRONTEND_ONNX_NN_WINDOW_H
#define DLC_FRONTEND_ONNX_NN_WINDOW_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

struct WindowAttributes {
  Dims kernel, strides, dilations, low, high;
  /// Padding at the end of each dimension that `ceil_mode` adds. It is included in `high`.
  Dims ceilExtra;
  int64_t spatial() const { return int64_t(kernel.size()); }
  std::vector<mlir::NamedAttribute> attributes(Build &b, bool withKernel) const;
};

/// Reads the window attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a
/// node for x [N, C, spatial..]. `kernel` is the default of kernel_shape.
WindowAttributes readWindowAttributes(Node &n, Build &b, Value x, Dims kernel);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_NN_WINDOW_H

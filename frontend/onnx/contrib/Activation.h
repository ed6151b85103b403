//===- Activation.h - activations fused into other operators --------------===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H
#define DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Applies the activation function with the given name, such as Relu, which is an attribute of a
/// fused operator. Missing parameters have the activation's defaults. An empty name means no
/// activation.
Value buildFusedActivation(Build &b, Value x, StringRef name, ArrayRef<double> parameters);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H

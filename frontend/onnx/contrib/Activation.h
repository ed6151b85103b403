//===- Activation.h - activations that are fused into other operators -----===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H
#define DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// x through the activation that an attribute names, with the parameters given or, where there are
/// fewer, its usual ones. An empty name is no activation.
Value fusedActivation(Build &b, Value x, StringRef name, ArrayRef<double> parameters);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_ACTIVATION_H

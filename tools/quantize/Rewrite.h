//===- Rewrite.h - the model with layers in fewer bits ------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_REWRITE_H
#define DLC_TOOLS_QUANTIZE_REWRITE_H

#include "tools/quantize/Layers.h"
#include "tools/quantize/Ranges.h"

namespace dlc::quantize {

/// What becomes of layers that are quantised.
struct Scheme {
  /// Of weights: 8 or 4.
  int bits = 8;
  /// With 4 bits: so many weights have one scale.
  int64_t block = 32;
  /// Of values; empty: weights alone are quantised.
  std::map<std::string, Scale> scales;
};

/// The model with its layers quantised, and the values in eight bits between them.
onnx::ModelProto quantised(const onnx::ModelProto &model, const std::vector<Layer> &layers,
                           const Scheme &scheme);

/// How one layer's loss is told: the sums of squares of its results and of what quantising changes.
struct LossOutputs {
  std::string signal, noise;
};

/// The model as it is, and beside each layer the same quantised, on the same input.
onnx::ModelProto besideEachOther(const onnx::ModelProto &model, const std::vector<Layer> &layers,
                                 const Scheme &scheme, std::vector<LossOutputs> &outputs);

/// The model, with these values (f32) as its only outputs.
onnx::ModelProto observing(const onnx::ModelProto &model, const std::vector<std::string> &values);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_REWRITE_H

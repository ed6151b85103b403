//===- Rewrite.h - rewrites a model with quantized layers -----------------===//
#ifndef DLC_TOOLS_QUANTIZE_REWRITE_H
#define DLC_TOOLS_QUANTIZE_REWRITE_H

#include "tools/quantize/Layers.h"
#include "tools/quantize/Ranges.h"

namespace dlc::quantize {

/// Quantization scheme of the layers.
struct Scheme {
  /// Bits of weights: 8 or 4.
  int bits = 8;
  /// Number of weights per scale; used with 4 bits.
  int64_t block = 32;
  /// Scales of values; empty if only weights are quantized.
  std::map<std::string, Scale> scales;
};

/// Returns the model with quantized layers, and with quantized values between them.
onnx::ModelProto quantised(const onnx::ModelProto &model, const std::vector<Layer> &layers,
                           const Scheme &scheme);

/// Names of the outputs that measure one layer's loss: the sum of squares of its results, and that
/// of the quantization error.
struct LossOutputs {
  std::string signal, noise;
};

/// Returns the unchanged model with a quantized copy of each layer added. The copy reads the
/// layer's input, quantized if the scheme has a scale for it. The outputs are the sums of squares
/// in `outputs`.
onnx::ModelProto mergedModels(const onnx::ModelProto &model, const std::vector<Layer> &layers,
                              const Scheme &scheme, std::vector<LossOutputs> &outputs);

/// Returns the model with these f32 values as its only outputs.
onnx::ModelProto observing(const onnx::ModelProto &model, const std::vector<std::string> &values);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_REWRITE_H

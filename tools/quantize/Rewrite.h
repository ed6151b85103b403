//===- Rewrite.h - rewrites a model with quantized layers -----------------===//
#ifndef DLC_TOOLS_QUANTIZE_REWRITE_H
#define DLC_TOOLS_QUANTIZE_REWRITE_H

#include "tools/quantize/Layers.h"
#include "tools/quantize/Ranges.h"

namespace dlc::quantize {

/// Quantization scheme of a model.
struct QuantizationScheme {
  /// Number of bits of quantized weights: 8 or 4.
  int bits = 8;
  /// Number of 4-bit weights that share a scale, along the reduction (K) dimension.
  int64_t block = 32;
  /// Scales of the quantized values by name; empty if only weights are quantized.
  std::map<std::string, QuantizationScale> scales;
};

/// Returns the model with quantized layers, and with quantized values between these layers.
onnx::ModelProto quantized(const onnx::ModelProto &model,
                           const std::vector<QuantizableLayer> &layers,
                           const QuantizationScheme &scheme);

/// Names of the model outputs that measure one layer's loss: the sum of squares of its results
/// (`signal`), and of the quantization error (`noise`).
struct LossOutputs {
  std::string signal, noise;
};

/// Returns the original model with a quantized copy of each layer added. The copy reads the layer's
/// input, quantized if the scheme has a scale for it. The model outputs are the sums of squares in
/// `outputs`.
onnx::ModelProto mergedModels(const onnx::ModelProto &model,
                              const std::vector<QuantizableLayer> &layers,
                              const QuantizationScheme &scheme, std::vector<LossOutputs> &outputs);

/// Returns the model with the given f32 values as its only outputs.
onnx::ModelProto addObservedOutputs(const onnx::ModelProto &model,
                                    const std::vector<std::string> &values);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_REWRITE_H

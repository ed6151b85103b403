//===- Layers.h - finds the layers and values of a model to quantize ------===//
#ifndef DLC_TOOLS_QUANTIZE_LAYERS_H
#define DLC_TOOLS_QUANTIZE_LAYERS_H

#include "tools/quantize/Graph.h"

#include <optional>

namespace dlc::quantize {

/// A layer to quantize: a convolution, or a matmul with constant weights.
struct QuantizableLayer {
  const onnx::NodeProto *node;
  std::string name;
  /// Names of the layer's operands. `bias` is empty if there is none.
  std::string x, weights, bias;
  /// Axes of the weights: `channels` is the output channel axis, with one scale per channel;
  /// `depth` is the reduction (K) axis of a matmul, or -1 for convolutions.
  int64_t channels = 0, depth = -1;
  std::vector<int64_t> shape;
  /// Reason why the layer remains in f32, or an empty text if the layer is quantized.
  std::string kept;
  /// Signal-to-noise ratio in dB of the layer's result if only this layer is quantized.
  std::optional<double> snr;

  bool isQuantized() const { return kept.empty(); }
};

/// Returns the layers of the model that can be quantized. Throws dlc::Error if the model is already
/// quantized.
std::vector<QuantizableLayer> collectLayers(const OnnxGraph &graph, const std::string &path);

/// Returns the values that are quantized to 8 bits. Each is mapped to the value whose scale and
/// zero point it shares, or to itself if it has its own.
std::map<std::string, std::string> valuesIn8Bits(const OnnxGraph &graph,
                                                 const std::vector<QuantizableLayer> &layers);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_LAYERS_H

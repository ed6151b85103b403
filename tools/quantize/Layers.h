//===- Layers.h - what of a model can be quantised ----------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_LAYERS_H
#define DLC_TOOLS_QUANTIZE_LAYERS_H

#include "tools/quantize/Graph.h"

#include <optional>

namespace dlc::quantize {

/// A convolution or a product by constant weights.
struct Layer {
  const onnx::NodeProto *node;
  std::string name;
  /// Its operands; no bias: empty.
  std::string x, weights, bias;
  /// Of the weights: the channels', which have a scale each, and the one that is summed along
  /// (products only).
  int64_t channels = 0, depth = -1;
  std::vector<int64_t> shape;
  /// Why it stays in f32; empty: it does not.
  std::string kept;
  /// Of its results, in dB: how much stronger they are than what quantising it alone changes.
  std::optional<double> snr;

  bool isQuantised() const { return kept.empty(); }
};

/// Throws where the model is quantised already.
std::vector<Layer> layersOf(const Graph &graph, const std::string &path);

/// Values to be held in eight bits, each with the one whose scale and zero point it shares (itself:
/// its own).
std::map<std::string, std::string> valuesIn8Bits(const Graph &graph,
                                                 const std::vector<Layer> &layers);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_LAYERS_H

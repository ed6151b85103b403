//===- Layers.cpp - finds the layers and values of a model to quantize ----===//
#include "tools/quantize/Layers.h"

#include "dlc/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>

namespace dlc::quantize {
namespace {

/// How an operation between layers propagates quantized values from its operand to its result.
enum class Propagation {
  No,
  /// The operation only moves elements, so its result has the operand's scale.
  Moves,
  /// The operation computes new values, so its result has its own scale.
  Computes,
  /// The operation is an activation that is fused with the operation that produces its operand.
  Activation
};

Propagation getPropagation(const onnx::NodeProto &node) {
  static const std::map<llvm::StringRef, Propagation> table = {
      {"MaxPool", Propagation::Moves},
      {"Reshape", Propagation::Moves},
      {"Transpose", Propagation::Moves},
      {"Flatten", Propagation::Moves},
      {"Squeeze", Propagation::Moves},
      {"Unsqueeze", Propagation::Moves},
      {"Slice", Propagation::Moves},
      {"Add", Propagation::Computes},
      {"Concat", Propagation::Computes},
      {"AveragePool", Propagation::Computes},
      {"GlobalAveragePool", Propagation::Computes},
      {"Resize", Propagation::Computes},
      {"LeakyRelu", Propagation::Computes},
      {"Relu", Propagation::Activation},
      {"Clip", Propagation::Activation}};
  auto found = node.domain().empty() || node.domain() == "ai.onnx" ? table.find(node.op_type())
                                                                   : table.end();
  return found == table.end() ? Propagation::No : found->second;
}

/// Returns the number of data operands of a node, without parameters such as axes or bounds.
int countDataOperands(const onnx::NodeProto &node) {
  static const std::set<llvm::StringRef> several = {"Add", "Concat"};
  return several.count(node.op_type()) ? node.input_size() : 1;
}

/// Returns true if the value is the result of a Pad with an infinite pad value. Such a value has no
/// finite scale and is not quantized, but the result of a max pooling of it is.
bool isPaddedWithInfinity(const OnnxGraph &graph, const std::string &value) {
  const onnx::NodeProto *pad = graph.producer(value);
  if (!pad || pad->op_type() != "Pad" || pad->input_size() < 3)
    return false;
  const onnx::TensorProto *with = graph.weights(pad->input(2));
  return with && countElements(*with) > 0 && !std::isfinite(*getFloatData(*with));
}

bool isQuantizedOp(const onnx::NodeProto &node) {
  llvm::StringRef kind = node.op_type();
  return kind == "DequantizeLinear" || kind == "QuantizeLinear" || kind.starts_with("QLinear") ||
         kind.contains("Integer") || kind.starts_with("QAttention") || kind == "QGemm" ||
         kind == "QMoE" || kind == "MatMulNBits" || kind == "GatherBlockQuantized" ||
         kind == "DynamicQuantizeLinear" || kind == "DynamicQuantizeMatMul" ||
         kind == "DynamicQuantizeLSTM";
}

/// If the node is a convolution, or a matmul with constant weights, returns its layer: operands and
/// channel axis.
std::optional<QuantizableLayer> matchLayer(const OnnxGraph &graph, const onnx::NodeProto &node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return std::nullopt;
  const std::string &kind = node.op_type();
  bool isConv = kind == "Conv", isGemm = kind == "Gemm";
  if ((!isConv && !isGemm && kind != "MatMul") || node.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto *weights = graph.weights(node.input(1));
  if (!weights && kind == "MatMul")
    return std::nullopt;
  QuantizableLayer layer{&node,
                         nameOf(node),
                         node.input(0),
                         node.input(1),
                         node.input_size() > 2 ? node.input(2) : "",
                         0,
                         -1,
                         {},
                         "",
                         {}};
  if (!weights) {
    layer.kept = "its weights are not an f32 constant";
    return layer;
  }
  layer.shape.assign(weights->dims().begin(), weights->dims().end());
  if (graph.isConstant(layer.x))
    layer.kept = "its input is a constant";
  else if (!isConv && layer.shape.size() != 2)
    layer.kept = "its weights have " + std::to_string(layer.shape.size()) + " dimensions";
  else if (countElements(*weights) == 0 || (isConv && layer.shape.size() < 3))
    layer.kept = "its weights are empty";
  if (isConv)
    return layer;
  bool isTransposed = isGemm && getIntAttribute(node, "transB", 0);
  layer.channels = isTransposed ? 0 : 1;
  layer.depth = 1 - layer.channels;
  if (isGemm && (getIntAttribute(node, "transA", 0) || getFloatAttribute(node, "alpha", 1) != 1))
    layer.kept = "it has transA or alpha";
  return layer;
}

} // namespace

std::vector<QuantizableLayer> collectLayers(const OnnxGraph &graph, const std::string &path) {
  std::vector<QuantizableLayer> layers;
  for (const onnx::NodeProto &node : graph.proto().node()) {
    if (isQuantizedOp(node))
      throw Error(path + ": node '" + nameOf(node) + "' is a " + node.op_type() +
                  ": the model is already quantized; required: the f32 model that it was made of");
    if (std::optional<QuantizableLayer> layer = matchLayer(graph, node))
      layers.push_back(std::move(*layer));
  }
  if (layers.empty())
    throw Error(path + ": has no Conv, Gemm or MatMul with constant weights at its top level, so "
                       "that there is nothing to quantize");
  return layers;
}

std::map<std::string, std::string> valuesIn8Bits(const OnnxGraph &graph,
                                                 const std::vector<QuantizableLayer> &layers) {
  std::map<std::string, std::string> values;
  std::vector<std::string> open;
  auto add = [&](const std::string &value) {
    if (graph.isConstant(value) || value.empty())
      return false;
    if (values.try_emplace(value, value).second)
      open.push_back(value);
    return true;
  };
  std::set<const onnx::NodeProto *> quantized;
  for (const QuantizableLayer &layer : layers) {
    if (!layer.isQuantized())
      continue;
    quantized.insert(layer.node);
    add(layer.x);
    if (layer.node->op_type() != "Conv")
      continue;
    // The result of a convolution is quantized, too, because runtimes otherwise do not compute the
    // convolution with integers.
    std::string result = layer.node->output(0);
    const onnx::NodeProto *next = graph.onlyUser(result);
    if (next && getPropagation(*next) == Propagation::Activation)
      result = next->output(0);
    if (!graph.isOutput(result))
      add(result);
  }
  while (!open.empty()) {
    std::string value = open.back();
    open.pop_back();
    const onnx::NodeProto *maker = graph.producer(value);
    if (maker && getPropagation(*maker) == Propagation::Activation &&
        graph.onlyUser(maker->input(0)))
      maker = graph.producer(maker->input(0));
    Propagation passing = maker ? getPropagation(*maker) : Propagation::No;
    if (passing == Propagation::No || quantized.count(maker))
      continue;
    // If one operand of an Add is constant, the other operand is not quantized: only the sum is.
    auto isConstant = [&](const std::string &operand) { return graph.isConstant(operand); };
    if (maker->op_type() == "Add" && llvm::any_of(maker->input(), isConstant))
      continue;
    for (int i = 0; i < countDataOperands(*maker) && i < maker->input_size(); ++i)
      if (!isPaddedWithInfinity(graph, maker->input(i)))
        add(maker->input(i));
    if (passing == Propagation::Moves && maker->output_size() && maker->output(0) == value &&
        values.count(maker->input(0)))
      values[value] = maker->input(0);
  }
  // Maps each value to the end of its chain of element-moving operations: the value that has its
  // own scale.
  for (auto &[value, source] : values)
    while (values.at(source) != source)
      source = values.at(source);
  return values;
}

} // namespace dlc::quantize

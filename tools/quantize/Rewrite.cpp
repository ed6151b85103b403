//===- Rewrite.cpp - rewrites a model with quantized layers ---------------===//
#include "tools/quantize/Rewrite.h"
#include "tools/quantize/Weights.h"

#include <algorithm>

namespace dlc::quantize {
namespace {

constexpr int64_t kBlockOpset = 21, kBlockIr = 10;

class QuantizationRewriter {
public:
  QuantizationRewriter(const onnx::ModelProto &model, const std::vector<QuantizableLayer> &layers,
                       const QuantizationScheme &scheme)
      : graph(model), scheme(scheme), result(model) {
    for (const QuantizableLayer &layer : layers)
      byNode[layer.node] = &layer;
    result.mutable_graph()->clear_node();
    for (const onnx::NodeProto &node : model.graph().node()) {
      taken.insert(node.output().begin(), node.output().end());
    }
    for (const onnx::ValueInfoProto &input : model.graph().input())
      taken.insert(input.name());
    for (const onnx::TensorProto &tensor : model.graph().initializer())
      taken.insert(tensor.name());
  }

  onnx::ModelProto quantized() {
    for (const onnx::ValueInfoProto &input : graph.proto().input())
      throughBytes(input.name());
    for (const onnx::NodeProto &node : graph.proto().node()) {
      auto found = byNode.find(&node);
      if (found != byNode.end() && found->second->isQuantized()) {
        layer(*found->second, node.output(0), "");
      } else {
        onnx::NodeProto copy = node;
        for (std::string &input : *copy.mutable_input())
          input = read(input);
        *nodes().Add() = std::move(copy);
      }
      for (const std::string &output : node.output())
        throughBytes(output);
    }
    return done();
  }

  onnx::ModelProto mergedModels(std::vector<LossOutputs> &outputs) {
    result.mutable_graph()->clear_output();
    for (const onnx::ValueInfoProto &input : graph.proto().input())
      throughBytes(input.name());
    for (const onnx::NodeProto &node : graph.proto().node()) {
      *nodes().Add() = node;
      for (const std::string &output : node.output())
        throughBytes(output);
      auto found = byNode.find(&node);
      if (found == byNode.end() || !found->second->isQuantized())
        continue;
      const std::string &exact = node.output(0), rough = fresh(exact + "_quantized");
      layer(*found->second, rough, "_quantized");
      std::string change = fresh(exact + "_change");
      add("Sub", {exact, rough}, change);
      LossOutputs told{fresh(exact + "_signal"), fresh(exact + "_noise")};
      for (const auto &[value, name] :
           {std::pair(exact, told.signal), std::pair(change, told.noise)}) {
        onnx::NodeProto &sum = add("ReduceSumSquare", {value}, name);
        setInteger(sum, "keepdims", 0);
        addOutput(*result.mutable_graph(), name);
      }
      outputs.push_back(told);
    }
    return done();
  }

  static void addOutput(onnx::GraphProto &graph, const std::string &name) {
    onnx::ValueInfoProto *output = graph.add_output();
    output->set_name(name);
    output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }

private:
  google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes() {
    return *result.mutable_graph()->mutable_node();
  }

  onnx::ModelProto done() {
    removeUnusedInitializers(*result.mutable_graph());
    result.set_producer_name("dlc");
    return std::move(result);
  }

  /// Returns the name of the value that consumers read: the dequantized value if the value is
  /// quantized, otherwise the value itself.
  const std::string &read(const std::string &value) const {
    auto found = narrow.find(value);
    return found == narrow.end() ? value : found->second;
  }

  void throughBytes(const std::string &value) {
    auto found = scheme.scales.find(value);
    if (found == scheme.scales.end())
      return;
    std::string scale = constant(value + "_scale", onnx::TensorProto::FLOAT, {},
                                 &found->second.scale, sizeof(float)),
                zero = constant(value + "_zero_point", onnx::TensorProto::UINT8, {},
                                &found->second.zeroPoint, 1);
    std::string numbers = fresh(value + "_numbers"), back = fresh(value + "_dequantized");
    add("QuantizeLinear", {value, scale, zero}, numbers);
    add("DequantizeLinear", {numbers, scale, zero}, back);
    narrow[value] = back;
  }

  void layer(const QuantizableLayer &layer, const std::string &output, const std::string &suffix) {
    const onnx::TensorProto &weights = *graph.weights(layer.weights);
    const onnx::TensorProto *bias = graph.weights(layer.bias);
    onnx::NodeProto node = *layer.node;
    node.set_name(freshName(layer.name + suffix));
    node.set_output(0, output);
    *node.mutable_input(0) = read(layer.x);
    auto x = scheme.scales.find(layer.x);
    bool isProduct = layer.depth >= 0;
    if (scheme.bits == 4 && isProduct) {
      if (getOpsetVersion(result) < kBlockOpset)
        return byColumns(layer, weights, std::move(node));
      QuantizedTensor numbers = quantizeInBlocks(layer, weights, scheme.block);
      *node.mutable_input(1) = dequantized(layer.weights, numbers, layer.depth, scheme.block);
      result.set_ir_version(std::max(result.ir_version(), kBlockIr));
    } else {
      bool isNarrowBias = x != scheme.scales.end() && bias &&
                          countElements(*bias) == layer.shape[size_t(layer.channels)] &&
                          bias->dims_size() == 1 && getFloatAttribute(node, "beta", 1) == 1;
      float xScale = isNarrowBias ? x->second.scale : 1;
      QuantizedTensor numbers = perChannel(layer, weights, isNarrowBias ? bias : nullptr, xScale);
      *node.mutable_input(1) = dequantized(layer.weights, numbers, layer.channels, 0);
      if (isNarrowBias)
        *node.mutable_input(2) =
            dequantized(layer.bias, quantizeBias(*bias, numbers, xScale), 0, 0);
    }
    *nodes().Add() = std::move(node);
  }

  /// Emits the layer as com.microsoft.MatMulNBits, for opsets in which DequantizeLinear does not
  /// support blocks.
  void byColumns(const QuantizableLayer &layer, const onnx::TensorProto &weights,
                 onnx::NodeProto node) {
    QuantizedTensor numbers = quantizeInBlocksTransposed(layer, weights, scheme.block);
    onnx::NodeProto product;
    product.set_name(node.name());
    product.set_op_type("MatMulNBits");
    product.set_domain("com.microsoft");
    product.add_input(node.input(0));
    product.add_input(initializer(layer.weights + "_numbers", std::move(numbers.values)));
    product.add_input(initializer(layer.weights + "_scale", std::move(numbers.scales)));
    std::string bias = node.input_size() > 2 ? node.input(2) : "";
    std::string sums = bias.empty() ? node.output(0) : fresh(node.output(0) + "_sums");
    product.add_output(sums);
    setInteger(product, "K", layer.shape[size_t(layer.depth)]);
    setInteger(product, "N", layer.shape[size_t(layer.channels)]);
    setInteger(product, "bits", 4);
    setInteger(product, "block_size", scheme.block);
    *nodes().Add() = std::move(product);
    if (!bias.empty())
      add("Add", {sums, bias}, node.output(0));
    for (const onnx::OperatorSetIdProto &opset : result.opset_import())
      if (opset.domain() == "com.microsoft")
        return;
    onnx::OperatorSetIdProto *opset = result.add_opset_import();
    opset->set_domain("com.microsoft");
    opset->set_version(1);
  }

  std::string dequantized(const std::string &name, QuantizedTensor numbers, int64_t axis,
                          int64_t block) {
    // Layers with the same weights share the quantized initializers if the scales are equal.
    auto [at, isNew] = shared.try_emplace(
        {name, axis, numbers.scales.raw_data() + numbers.values.raw_data().substr(0, 64)});
    if (!isNew)
      return at->second;
    std::string values = initializer(name + "_numbers", std::move(numbers.values)),
                scales = initializer(name + "_scale", std::move(numbers.scales));
    at->second = fresh(name + "_dequantized");
    onnx::NodeProto &node = add("DequantizeLinear", {values, scales}, at->second);
    setInteger(node, "axis", axis);
    if (block)
      setInteger(node, "block_size", block);
    return at->second;
  }

  onnx::NodeProto &add(const char *kind, const std::vector<std::string> &inputs,
                       const std::string &output) {
    onnx::NodeProto &node = *nodes().Add();
    node.set_op_type(kind);
    node.set_name(freshName(output));
    for (const std::string &input : inputs)
      node.add_input(input);
    node.add_output(output);
    return node;
  }

  static void setInteger(onnx::NodeProto &node, const char *name, int64_t value) {
    onnx::AttributeProto *attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }

  std::string constant(const std::string &name, onnx::TensorProto::DataType type,
                       const std::vector<int64_t> &dims, const void *data, size_t bytes) {
    onnx::TensorProto tensor;
    tensor.set_data_type(type);
    for (int64_t size : dims)
      tensor.add_dims(size);
    tensor.set_raw_data(data, bytes);
    return initializer(name, std::move(tensor));
  }

  std::string initializer(const std::string &name, onnx::TensorProto tensor) {
    tensor.set_name(fresh(name));
    onnx::TensorProto *added = result.mutable_graph()->add_initializer();
    *added = std::move(tensor);
    return added->name();
  }

  static std::string freshAmong(std::set<std::string> &names, const std::string &name) {
    std::string result = name;
    for (int i = 1; !names.insert(result).second; ++i)
      result = name + "_" + std::to_string(i);
    return result;
  }
  std::string fresh(const std::string &value) { return freshAmong(taken, value); }
  std::string freshName(const std::string &node) {
    return node.empty() ? node : freshAmong(newNames, node);
  }

  OnnxGraph graph;
  const QuantizationScheme &scheme;
  onnx::ModelProto result;
  std::map<const onnx::NodeProto *, const QuantizableLayer *> byNode;
  std::set<std::string> taken, newNames;
  /// Names of the dequantized f32 values, by the name of the quantized value.
  std::map<std::string, std::string> narrow;
  std::map<std::tuple<std::string, int64_t, std::string>, std::string> shared;
};

} // namespace

onnx::ModelProto quantized(const onnx::ModelProto &model,
                           const std::vector<QuantizableLayer> &layers,
                           const QuantizationScheme &scheme) {
  return QuantizationRewriter(model, layers, scheme).quantized();
}

onnx::ModelProto mergedModels(const onnx::ModelProto &model,
                              const std::vector<QuantizableLayer> &layers,
                              const QuantizationScheme &scheme, std::vector<LossOutputs> &outputs) {
  return QuantizationRewriter(model, layers, scheme).mergedModels(outputs);
}

onnx::ModelProto addObservedOutputs(const onnx::ModelProto &model,
                                    const std::vector<std::string> &values) {
  onnx::ModelProto result = model;
  result.mutable_graph()->clear_output();
  for (const std::string &value : values)
    QuantizationRewriter::addOutput(*result.mutable_graph(), value);
  return result;
}

} // namespace dlc::quantize

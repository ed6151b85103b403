//===- Graph.cpp - analyzes and modifies an ONNX model --------------------===//
#include "tools/quantize/Graph.h"

#include "dlc/Error.h"
#include "frontend/onnx/file/ModelFile.h"
#include "runtime/program/AtomicFile.h"
#include "tools/compiler/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"

namespace dlc::quantize {
namespace {

/// Loads the elements of tensors into the ONNX model as raw_data, including those in external
/// files.
struct TensorLoader {
  onnxfront::ModelFile &file;
  mlir::MLIRContext &context;

  void tensor(onnx::TensorProto &tensor) {
    bool isElsewhere =
        !tensor.unknown_fields().empty() || tensor.data_location() == onnx::TensorProto::EXTERNAL;
    if (!isElsewhere && tensor.data_type() != onnx::TensorProto::FLOAT)
      return;
    std::string reason;
    bool isFourBits = tensor.data_type() == onnx::TensorProto::INT4 ||
                      tensor.data_type() == onnx::TensorProto::UINT4;
    mlir::FailureOr<ref::Tensor> elements = mlir::failure();
    if (isFourBits)
      reason = "4-bit elements are not supported";
    else
      elements = file.tensor(tensor, &context, reason);
    if (mlir::failed(elements))
      throw Error(file.path().str() + ": tensor '" + tensor.name() + "': " + reason);
    tensor.clear_float_data();
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.mutable_unknown_fields()->clear();
    tensor.set_raw_data(elements->data(), size_t(elements->bytes()));
  }

  void nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
    for (onnx::NodeProto &node : nodes)
      for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_t())
          tensor(*attribute.mutable_t());
        for (onnx::TensorProto &each : *attribute.mutable_tensors())
          tensor(each);
        if (attribute.has_g())
          graph(*attribute.mutable_g());
        for (onnx::GraphProto &each : *attribute.mutable_graphs())
          graph(each);
      }
  }

  void graph(onnx::GraphProto &graph) {
    for (onnx::TensorProto &each : *graph.mutable_initializer())
      tensor(each);
    for (onnx::SparseTensorProto &each : *graph.mutable_sparse_initializer()) {
      tensor(*each.mutable_values());
      tensor(*each.mutable_indices());
    }
    nodes(*graph.mutable_node());
  }
};

/// Converts Constant nodes with a tensor to initializers, so that all weights are initializers.
void constantsToInitializers(onnx::GraphProto &graph) {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> rest;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    const onnx::AttributeProto *value =
        node.op_type() == "Constant" ? findAttribute(node, "value") : nullptr;
    if (value && value->has_t() && node.output_size() == 1) {
      onnx::TensorProto *tensor = graph.add_initializer();
      *tensor = value->t();
      tensor->set_name(node.output(0));
    } else {
      *rest.Add() = std::move(node);
    }
  }
  graph.mutable_node()->Swap(&rest);
}

/// Collects the names of the values that nodes of a graph use as inputs, including nodes in
/// subgraphs.
void collectUsedValues(const onnx::GraphProto &graph, std::set<std::string> &uses,
                       bool outputsToo) {
  for (const onnx::NodeProto &node : graph.node()) {
    uses.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectUsedValues(attribute.g(), uses, true);
      for (const onnx::GraphProto &each : attribute.graphs())
        collectUsedValues(each, uses, true);
    }
  }
  if (outputsToo)
    for (const onnx::ValueInfoProto &output : graph.output())
      uses.insert(output.name());
}

} // namespace

onnx::ModelProto readModel(const std::string &path) {
  mlir::MLIRContext context;
  DiagnosticCollector collector(context);
  auto file = onnxfront::ModelFile::open(context, path);
  if (mlir::failed(file))
    throw Error(collector.take(path + ": cannot be read"));
  onnx::ModelProto model = (*file)->model();
  TensorLoader loader{**file, context};
  loader.graph(*model.mutable_graph());
  for (onnx::FunctionProto &function : *model.mutable_functions())
    loader.nodes(*function.mutable_node());
  constantsToInitializers(*model.mutable_graph());
  return model;
}

void writeModel(const onnx::ModelProto &model, const std::string &path) {
  constexpr size_t kMax = size_t(2) << 30;
  if (model.ByteSizeLong() >= kMax)
    throw Error(
        path + ": the model has " + std::to_string(model.ByteSizeLong()) +
        " bytes; required: at most 2 GiB, the limit of an ONNX file; quantize a part of it");
  std::string bytes = model.SerializeAsString();
  runtime::AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

int64_t getOpsetVersion(const onnx::ModelProto &model) {
  for (const onnx::OperatorSetIdProto &opset : model.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      return opset.version();
  return 1;
}

OnnxGraph::OnnxGraph(const onnx::ModelProto &model) : graph(model.graph()) {
  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    constants[tensor.name()] = &tensor;
  for (const onnx::ValueInfoProto &output : graph.output())
    outputs.insert(output.name());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &output : node.output())
      producers[output] = &node;
    for (const std::string &input : node.input())
      consumers[input].push_back(&node);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectUsedValues(attribute.g(), outputs, true);
      for (const onnx::GraphProto &each : attribute.graphs())
        collectUsedValues(each, outputs, true);
    }
  }
}

const onnx::NodeProto *OnnxGraph::producer(const std::string &value) const {
  auto found = producers.find(value);
  return found == producers.end() || value.empty() ? nullptr : found->second;
}

const std::vector<const onnx::NodeProto *> &OnnxGraph::users(const std::string &value) const {
  static const std::vector<const onnx::NodeProto *> none;
  auto found = consumers.find(value);
  return found == consumers.end() ? none : found->second;
}

const onnx::TensorProto *OnnxGraph::weights(const std::string &value) const {
  auto found = constants.find(value);
  return found == constants.end() || found->second->data_type() != onnx::TensorProto::FLOAT
             ? nullptr
             : found->second;
}

const onnx::NodeProto *OnnxGraph::onlyUser(const std::string &value) const {
  const auto &all = users(value);
  return all.size() == 1 && !isOutput(value) ? all.front() : nullptr;
}

const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, const char *name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t getIntAttribute(const onnx::NodeProto &node, const char *name, int64_t otherwise) {
  const onnx::AttributeProto *found = findAttribute(node, name);
  return found ? found->i() : otherwise;
}

float getFloatAttribute(const onnx::NodeProto &node, const char *name, float otherwise) {
  const onnx::AttributeProto *found = findAttribute(node, name);
  return found ? found->f() : otherwise;
}

std::string nameOf(const onnx::NodeProto &node) {
  return node.name().empty() && node.output_size() ? node.output(0) : node.name();
}

const float *getFloatData(const onnx::TensorProto &tensor) {
  return reinterpret_cast<const float *>(tensor.raw_data().data());
}

int64_t countElements(const onnx::TensorProto &tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.dims())
    count *= size;
  return count;
}

void removeUnusedInitializers(onnx::GraphProto &graph) {
  std::set<std::string> uses;
  collectUsedValues(graph, uses, true);
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  std::set<std::string> dropped;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (uses.count(tensor.name()))
      *kept.Add() = std::move(tensor);
    else
      dropped.insert(tensor.name());
  graph.mutable_initializer()->Swap(&kept);
  // Old ONNX files also list initializers as inputs, so the dropped ones are removed there, too.
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (onnx::ValueInfoProto &input : *graph.mutable_input())
    if (!dropped.count(input.name()))
      *inputs.Add() = std::move(input);
  graph.mutable_input()->Swap(&inputs);
}

} // namespace dlc::quantize

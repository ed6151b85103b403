//===- Graph.h - analyzes and modifies an ONNX model ----------------------===//
#ifndef DLC_TOOLS_QUANTIZE_GRAPH_H
#define DLC_TOOLS_QUANTIZE_GRAPH_H

#include "onnx.pb.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dlc::quantize {

/// Reads an ONNX model. All weights become initializers with raw_data. Throws dlc::Error.
onnx::ModelProto readModel(const std::string &path);
void writeModel(const onnx::ModelProto &model, const std::string &path);

/// Returns the model's opset version of the default ONNX domain.
int64_t getOpsetVersion(const onnx::ModelProto &model);

/// Index of the producers and consumers of values at the top level of an ONNX model, which must
/// outlive this object unchanged.
class OnnxGraph {
public:
  explicit OnnxGraph(const onnx::ModelProto &model);

  const onnx::GraphProto &proto() const { return graph; }
  const onnx::NodeProto *producer(const std::string &value) const;
  /// Returns the nodes that consume the value; a node is listed once for each use.
  const std::vector<const onnx::NodeProto *> &users(const std::string &value) const;
  /// Returns the initializer of this name, or null if the value is not an f32 initializer.
  /// Initializers that are also inputs are included.
  const onnx::TensorProto *weights(const std::string &value) const;
  bool isConstant(const std::string &value) const { return constants.count(value); }
  bool isOutput(const std::string &value) const { return outputs.count(value); }
  /// Returns the only consumer of the value at the top level. Returns null if there are several, or
  /// if the value is a model output or used in a subgraph.
  const onnx::NodeProto *onlyUser(const std::string &value) const;

private:
  const onnx::GraphProto &graph;
  std::map<std::string, const onnx::NodeProto *> producers;
  std::map<std::string, std::vector<const onnx::NodeProto *>> consumers;
  std::map<std::string, const onnx::TensorProto *> constants;
  /// Names of the model outputs, and of values that subgraphs use.
  std::set<std::string> outputs;
};

/// Returns the node's attribute of this name, or null.
const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, const char *name);
int64_t getIntAttribute(const onnx::NodeProto &node, const char *name, int64_t otherwise);
float getFloatAttribute(const onnx::NodeProto &node, const char *name, float otherwise);

/// Returns the node's name, or the name of its first output if the node is unnamed.
std::string nameOf(const onnx::NodeProto &node);
/// Returns the elements of an f32 initializer of a model that was read by readModel().
const float *getFloatData(const onnx::TensorProto &tensor);
int64_t countElements(const onnx::TensorProto &tensor);

/// Removes the initializers that no node uses.
void removeUnusedInitializers(onnx::GraphProto &graph);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_GRAPH_H

//===- Graph.h - an ONNX model that is looked at and changed -----------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_GRAPH_H
#define DLC_TOOLS_QUANTIZE_GRAPH_H

#include "onnx.pb.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dlc::quantize {

/// The model with all its weights as raw_data of initializers. Throws dlc::Error.
onnx::ModelProto readModel(const std::string &path);
void writeModel(const onnx::ModelProto &model, const std::string &path);

/// The version of ONNX's own operators.
int64_t opsetOf(const onnx::ModelProto &model);

/// Who makes what, and who uses it, at the model's top level. The model must outlive it, unchanged.
class Graph {
public:
  explicit Graph(const onnx::ModelProto &model);

  const onnx::GraphProto &proto() const { return graph; }
  const onnx::NodeProto *producer(const std::string &value) const;
  /// Nodes that take it, once for each time.
  const std::vector<const onnx::NodeProto *> &users(const std::string &value) const;
  /// Null unless it is an initializer in f32 that no caller can replace.
  const onnx::TensorProto *weights(const std::string &value) const;
  bool isConstant(const std::string &value) const { return constants.count(value); }
  bool isOutput(const std::string &value) const { return outputs.count(value); }
  /// The only user at this level, where nothing else looks at the value. Null otherwise.
  const onnx::NodeProto *onlyUser(const std::string &value) const;

private:
  const onnx::GraphProto &graph;
  std::map<std::string, const onnx::NodeProto *> producers;
  std::map<std::string, std::vector<const onnx::NodeProto *>> consumers;
  std::map<std::string, const onnx::TensorProto *> constants;
  /// Outputs, and what subgraphs see.
  std::set<std::string> outputs;
};

/// The attribute of that name, or null.
const onnx::AttributeProto *attribute(const onnx::NodeProto &node, const char *name);
int64_t integer(const onnx::NodeProto &node, const char *name, int64_t otherwise);
float number(const onnx::NodeProto &node, const char *name, float otherwise);

/// The name of a node, else that of its first result.
std::string nameOf(const onnx::NodeProto &node);
/// Elements of an f32 tensor that readModel gave.
const float *floatsOf(const onnx::TensorProto &tensor);
int64_t countOf(const onnx::TensorProto &tensor);

/// Removes initializers that nothing uses.
void dropUnused(onnx::GraphProto &graph);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_GRAPH_H

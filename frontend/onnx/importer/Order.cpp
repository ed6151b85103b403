//===- Order.cpp - orders a graph's nodes for import ----------------------===//
#include "frontend/onnx/Importer.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc::onnxfront {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::string describeNode(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return "node '" + node.name() + "' (" + node.op_type() + "): ";
  if (node.output_size())
    return "node with output '" + node.output(0) + "' (" + node.op_type() + "): ";
  return "node (" + node.op_type() + "): ";
}

/// Collects the names of the values that a node uses: its inputs, and the outer values that its
/// subgraphs use.
static void collectUsedNames(const onnx::NodeProto &node, std::vector<std::string> &names);

static void collectUsedNames(const onnx::GraphProto &graph, std::vector<std::string> &names) {
  llvm::StringSet<> defined;
  for (const auto &input : graph.input())
    defined.insert(input.name());
  for (const auto &tensor : graph.initializer())
    defined.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    defined.insert(tensor.values().name());
  for (const auto &node : graph.node())
    for (const std::string &name : node.output())
      defined.insert(name);
  std::vector<std::string> used;
  for (const auto &node : graph.node())
    collectUsedNames(node, used);
  for (const auto &output : graph.output())
    used.push_back(output.name());
  for (const std::string &name : used)
    if (!defined.contains(name))
      names.push_back(name);
}

static void collectUsedNames(const onnx::NodeProto &node, std::vector<std::string> &names) {
  for (const std::string &name : node.input())
    if (!name.empty())
      names.push_back(name);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      collectUsedNames(attribute.g(), names);
    for (const auto &graph : attribute.graphs())
      collectUsedNames(graph, names);
  }
}

namespace {
class TopologicalSorter {
public:
  TopologicalSorter(const Nodes &nodes,
                    llvm::function_ref<Location(const onnx::NodeProto &)> locate, Build &b)
      : nodes(nodes), locate(locate), b(b), state(nodes.size(), Unseen), used(nodes.size()) {}

  std::vector<const onnx::NodeProto *> run(ArrayRef<std::string> outputs) {
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string &name : nodes[i].output())
        if (!name.empty())
          makers[name] = i;
    for (const std::string &output : outputs)
      if (auto it = makers.find(output); it != makers.end() && !visit(it->second))
        return {};
    bool inOrder = true;
    for (int i : order)
      for (int maker : makersOf(i))
        inOrder &= maker < i;
    // If the file's order is a topological order, it is kept, so that results do not change between
    // versions of this code.
    if (inOrder)
      std::sort(order.begin(), order.end());
    std::vector<const onnx::NodeProto *> result;
    for (int i : order)
      result.push_back(&nodes[i]);
    return result;
  }

private:
  enum State : char { Unseen, Open, Done };

  std::vector<int> makersOf(int i) const {
    std::vector<int> result;
    for (const std::string &name : used[i])
      if (auto it = makers.find(name); it != makers.end())
        result.push_back(it->second);
    return result;
  }

  /// Topological sort by a depth-first search. The stack is explicit, because graphs are as deep as
  /// networks and recursion would overflow.
  bool visit(int root) {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      int i = stack.back();
      if (state[i] != Unseen) {
        stack.pop_back();
        if (state[i] == Open)
          order.push_back(i);
        state[i] = Done;
        continue;
      }
      state[i] = Open;
      collectUsedNames(nodes[i], used[i]);
      for (const std::string &name : used[i]) {
        auto it = makers.find(name);
        // The name refers to a value that none of these nodes computes.
        if (it == makers.end())
          continue;
        if (state[it->second] == Open) {
          b.setNode(locate(nodes[i]), describeNode(nodes[i]));
          b.error("its input '" + name + "' depends on the node itself: the graph has a cycle");
          return false;
        }
        if (state[it->second] == Unseen)
          stack.push_back(it->second);
      }
    }
    return true;
  }

  const Nodes &nodes;
  llvm::function_ref<Location(const onnx::NodeProto &)> locate;
  Build &b;
  llvm::StringMap<int> makers;
  std::vector<State> state;
  std::vector<std::vector<std::string>> used;
  std::vector<int> order;
};
} // namespace

std::vector<const onnx::NodeProto *>
orderNodes(const Nodes &nodes, ArrayRef<std::string> outputs,
           llvm::function_ref<Location(const onnx::NodeProto &)> locate, Build &b) {
  return TopologicalSorter(nodes, locate, b).run(outputs);
}

} // namespace dlc::onnxfront

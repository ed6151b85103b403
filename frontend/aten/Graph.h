//===- Graph.h - parses and checks the text of a graph --------------------===//
#ifndef DLC_FRONTEND_ATEN_GRAPH_H
#define DLC_FRONTEND_ATEN_GRAPH_H

#include "frontend/aten/Node.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc::aten {

/// A named tensor that exists before the first node: an input or a constant.
struct GraphInput {
  std::string name;
  mlir::RankedTensorType type;
  /// The constant's elements as JSON, or null if the graph's text does not contain them.
  const llvm::json::Array *elements = nullptr;
};

/// A graph output: its name, and the node and the result index that produce it. If `isFree` is set,
/// the compiler may choose the layout of the output; the program then records the layout.
struct GraphOutput {
  std::string name, of;
  size_t at = 0;
  bool isFree = false;
};

/// A graph parsed from its JSON text. The nodes are validated one by one when they are imported.
struct Graph {
  static constexpr int64_t version = 1;

  llvm::json::Value json = nullptr;
  std::vector<GraphInput> inputs, constants;
  std::vector<const llvm::json::Object *> nodes;
  std::vector<GraphOutput> outputs;
  /// Seed of random numbers. Set only for a training step, whose random numbers also depend on the
  /// step number.
  std::optional<uint64_t> seed;

  /// Parses the text of a graph. Returns null after an error, which is reported as a diagnostic on
  /// the context with the prefix `source`.
  static std::unique_ptr<Graph> parse(mlir::MLIRContext &context, StringRef text, StringRef source);
};

/// Imports a node at the builder's insertion point and adds the node's results to `names`. Returns
/// false after an error.
bool importNode(Build &b, const llvm::json::Object &json, Names &names);

/// Formats a node's name and overload for messages: "node 'add_1' (add.Tensor): ".
std::string describeNode(const llvm::json::Object &node);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRAPH_H

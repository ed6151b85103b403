//===- Graph.h - the text of a graph, checked -----------------------------===//
#ifndef DLC_FRONTEND_ATEN_GRAPH_H
#define DLC_FRONTEND_ATEN_GRAPH_H

#include "frontend/aten/Node.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc::aten {

/// A named tensor that is there before any node.
struct Given {
  std::string name;
  mlir::RankedTensorType type;
  /// The elements of a constant, where the text has them.
  const llvm::json::Array *elements = nullptr;
};

/// What comes out: a name for it, and the node's. Where it is free it may lie in any layout, which
/// the program tells.
struct Output {
  std::string name, of;
  size_t at = 0;
  bool isFree = false;
};

/// The parts of a text. Nodes are looked at one by one, when they are imported.
struct Graph {
  static constexpr int64_t version = 1;

  llvm::json::Value json = nullptr;
  std::vector<Given> inputs, constants;
  std::vector<const llvm::json::Object *> nodes;
  std::vector<Output> outputs;
  /// Of random numbers, which only a training step has: they follow from the number of the step.
  std::optional<uint64_t> seed;

  /// Null after an error, which is a diagnostic on the context. `source` begins the message.
  static std::unique_ptr<Graph> parse(mlir::MLIRContext &context, StringRef text, StringRef source);
};

/// Imports a node where the builder stands; what it makes is added to the names. False after an
/// error.
bool importNode(Build &b, const llvm::json::Object &json, Names &names);

/// A node's name and overload: "node 'add_1' (add.Tensor): ".
std::string describe(const llvm::json::Object &node);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRAPH_H

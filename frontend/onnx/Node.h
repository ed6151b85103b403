//===- Node.h - an ONNX node as its handler sees it -----------------------===//
#ifndef DLC_FRONTEND_ONNX_NODE_H
#define DLC_FRONTEND_ONNX_NODE_H

#include "frontend/onnx/Build.h"
#include "onnx.pb.h"

#include <map>

namespace dlc::onnxfront {

class Importer;

struct Selection;

/// What a name stands for: a tensor, or, at import time only, a sequence of such, an empty
/// optional, a tensor whose slices a condition selects, or a number that follows from how many
/// those are.
struct Item {
  enum Kind { Absent, Tensor, Sequence, None, Selected, Size } kind = Absent;
  /// Selected: with room for all slices. Size: the constant for when all slices are there.
  Value value;
  /// Size: the constants for when there were so many more (Selected.cpp).
  std::vector<Item> elements;
  /// Selected and Size.
  std::shared_ptr<const Selection> selection;

  Item() = default;
  Item(Value v) : kind(v ? Tensor : Absent), value(v) {}
  static Item sequence(std::vector<Item> elements) {
    Item item;
    item.kind = Sequence;
    item.elements = std::move(elements);
    return item;
  }
  static Item none() {
    Item item;
    item.kind = None;
    return item;
  }
};

/// The attributes that a call of a function gives to its body's nodes.
struct Frame {
  std::map<std::string, const onnx::AttributeProto *> attributes;
  std::map<std::string, int64_t> opsets;
  const Frame *caller = nullptr;
};

/// Names of one graph, within those of the graphs around it.
struct Scope {
  std::map<std::string, Item, std::less<>> names;
  /// Initializers that nothing has used yet.
  std::map<std::string, const onnx::TensorProto *, std::less<>> tensors;
  std::map<std::string, const onnx::SparseTensorProto *, std::less<>> sparseTensors;
  /// Element types (TensorProto.DataType) that the graph declares for results of its nodes.
  std::map<std::string, int32_t, std::less<>> declaredTypes;
  Scope *outer = nullptr;
};

class Node {
public:
  Node(Importer &importer, Build &b, const onnx::NodeProto &proto, const Frame &frame, Scope &scope,
       int64_t opset)
      : importer(importer), proto(proto), frame(frame), scope(scope), opset(opset), b(b),
        loc(b.getLoc()), prefix(b.getPrefix()) {}

  Importer &importer;
  const onnx::NodeProto &proto;
  const Frame &frame;
  Scope &scope;
  int64_t opset;

  /// Makes the builder stand at this node again, after it imported a graph.
  void restore() { b.setNode(loc, prefix); }

  //===--- Inputs and outputs -------------------------------------------------===//
  std::vector<Item> inputs, outputs;
  int64_t numInputs() const { return int64_t(inputs.size()); }
  int64_t numOutputs() const { return proto.output_size(); }
  /// Whether an optional input is there.
  bool has(int64_t i) const { return i < numInputs() && inputs[i].kind != Item::Absent; }
  /// A tensor, or null where an optional input is left out.
  Value in(int64_t i) const { return i < numInputs() ? inputs[i].value : Value(); }
  /// Of which small floats an initializer is that stands as f32; null: of none.
  const llvm::fltSemantics *smallFloat(int64_t i) const;
  bool wants(int64_t i) const { return i < numOutputs() && !proto.output(i).empty(); }
  void set(int64_t i, Item item);
  void set(int64_t i, Value v) { set(i, Item(v)); }

  //===--- Attributes ---------------------------------------------------------===//
  const onnx::AttributeProto *find(StringRef name) const;
  bool hasAttr(StringRef name) const { return find(name); }
  int64_t integer(StringRef name, int64_t otherwise);
  /// An integer that must be 0 or 1.
  bool flag(StringRef name, bool otherwise = false);
  double real(StringRef name, double otherwise);
  std::string string(StringRef name, StringRef otherwise);
  Dims integers(StringRef name, Dims otherwise = {});
  /// As many integers as asked for; `each` stands for all of them when the attribute is missing.
  Dims integers(StringRef name, int64_t number, int64_t each);
  std::vector<double> reals(StringRef name);
  std::vector<std::string> strings(StringRef name);
  const onnx::GraphProto *graph(StringRef name);
  Value tensor(StringRef name);
  Value tensor(const onnx::TensorProto &proto, StringRef name);
  /// The element type that an attribute names; an error when dlc has none such.
  Type dataType(StringRef name, int32_t otherwise);
  /// The small floats that an attribute names; null: none.
  const llvm::fltSemantics *smallFloat(StringRef name);
  /// An error for a value of an attribute that is not handled.
  void unsupported(StringRef name, const llvm::Twine &value, StringRef supported);

private:
  /// What stands in the file for an input; null where that is no initializer.
  const onnx::TensorProto *initializer(int64_t i) const;

  Build &b;
  mlir::Location loc;
  std::string prefix;
};

/// The domain of the operators that ONNX Runtime's quantiser and optimiser write.
inline constexpr const char *microsoft = "com.microsoft";
/// And that of its operators on blocks of channels.
inline constexpr const char *blocked = "com.microsoft.nchwc";

/// Handlers read the node, build operations, and set outputs.
using Handler = void (*)(Node &n, Build &b);

/// A row of a family's table.
struct Operator {
  /// An operator that has schemas (Schema.h). A null domain is the family's.
  constexpr Operator(const char *name, Handler handler, const char *domain = nullptr)
      : name(name), handler(handler), domain(domain) {}
  /// An operator without a schema: the number of its required inputs, and the names of its
  /// attributes with a space between them.
  constexpr Operator(const char *name, int required, Handler handler, const char *attributes = "",
                     const char *domain = nullptr)
      : name(name), handler(handler), domain(domain), required(required), attributes(attributes) {}

  const char *name;
  Handler handler;
  const char *domain;
  int required = 0;
  const char *attributes = "";
};

/// The operator tables, one per family.
ArrayRef<Operator> elementwiseOperators();
ArrayRef<Operator> activationOperators();
ArrayRef<Operator> shapeOperators();
ArrayRef<Operator> sliceOperators();
ArrayRef<Operator> rearrangeOperators();
ArrayRef<Operator> gatherOperators();
ArrayRef<Operator> selectionOperators();
ArrayRef<Operator> reduceOperators();
ArrayRef<Operator> contractOperators();
ArrayRef<Operator> quantizeOperators();
ArrayRef<Operator> convOperators();
ArrayRef<Operator> poolOperators();
ArrayRef<Operator> normOperators();
ArrayRef<Operator> attentionOperators();
ArrayRef<Operator> linearAttentionOperators();
ArrayRef<Operator> recurrentOperators();
ArrayRef<Operator> controlOperators();
ArrayRef<Operator> randomOperators();
ArrayRef<Operator> resizeOperators();
ArrayRef<Operator> sequenceOperators();
ArrayRef<Operator> imageOperators();
ArrayRef<Operator> signalOperators();
ArrayRef<Operator> lossOperators();
ArrayRef<Operator> trainingOperators();
ArrayRef<Operator> classicOperators();
ArrayRef<Operator> treeOperators();
ArrayRef<Operator> estimatorOperators();
/// Those of contrib/.
ArrayRef<Operator> fusedActivationOperators();
ArrayRef<Operator> fusedContractOperators();
ArrayRef<Operator> fusedConvOperators();
ArrayRef<Operator> fusedNormOperators();
ArrayRef<Operator> fusedAttentionOperators();
ArrayRef<Operator> groupQueryAttentionOperators();
ArrayRef<Operator> quantizedOperators();
ArrayRef<Operator> quantizedContractOperators();
ArrayRef<Operator> blockOperators();
ArrayRef<Operator> moeOperators();
ArrayRef<Operator> blockedOperators();

/// The operator of that domain and name, or null.
const Operator *findOperator(StringRef domain, StringRef name);
/// The newest opset of a domain whose meaning is known; 0 for a domain of which nothing is known.
int64_t newestOpset(StringRef domain);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_NODE_H

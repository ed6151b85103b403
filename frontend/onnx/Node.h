//===- Node.h - interface of an ONNX node for its handler -----------------===//
#ifndef DLC_FRONTEND_ONNX_NODE_H
#define DLC_FRONTEND_ONNX_NODE_H

#include "frontend/builder/Build.h"
#include "onnx.pb.h"

#include <map>

namespace dlc::onnxfront {

// The builder that all importers use (frontend/builder).
using namespace frontend;

class Importer;

struct Selection;

/// Value that a name in an ONNX graph refers to. It is a tensor or one of the following, which
/// exist only at import: a sequence of tensors, an empty optional (None), a tensor with a bounded
/// dynamic dimension (Selected), or an integer that depends on the run-time size of such a
/// dimension (Size).
struct GraphValue {
  enum Kind { Absent, Tensor, Sequence, None, Selected, Size } kind = Absent;
  /// Selected: the tensor, padded to the capacity of the dynamic dimension. Size: the integer for a
  /// dimension at its full capacity, as a constant.
  Value value;
  /// Sequence: its tensors. Size: the integer for larger sizes of the dynamic dimension, as
  /// constants (Selected.cpp).
  std::vector<GraphValue> elements;
  /// Selected slices that determine the dynamic dimension. Set only for Selected and Size.
  std::shared_ptr<const Selection> selection;

  GraphValue() = default;
  GraphValue(Value v) : kind(v ? Tensor : Absent), value(v) {}
  static GraphValue sequence(std::vector<GraphValue> elements) {
    GraphValue item;
    item.kind = Sequence;
    item.elements = std::move(elements);
    return item;
  }
  static GraphValue none() {
    GraphValue item;
    item.kind = None;
    return item;
  }
};

/// Attributes that a call of a model-local function passes to the nodes of the function's body.
struct FunctionFrame {
  std::map<std::string, const onnx::AttributeProto *> attributes;
  std::map<std::string, int64_t> opsets;
  const FunctionFrame *caller = nullptr;
};

/// Scope of the names of one graph, nested in the scope of the enclosing graph.
struct Scope {
  std::map<std::string, GraphValue, std::less<>> names;
  /// Initializers that no node has used yet, by name.
  std::map<std::string, const onnx::TensorProto *, std::less<>> tensors;
  std::map<std::string, const onnx::SparseTensorProto *, std::less<>> sparseTensors;
  /// Element types (TensorProto.DataType) that the graph declares for results of its nodes.
  std::map<std::string, int32_t, std::less<>> declaredTypes;
  Scope *outer = nullptr;
};

class Node {
public:
  Node(Importer &importer, Build &b, const onnx::NodeProto &proto, const FunctionFrame &frame,
       Scope &scope, int64_t opset)
      : importer(importer), proto(proto), frame(frame), scope(scope), opset(opset), b(b),
        loc(b.getLoc()), prefix(b.getPrefix()) {}

  Importer &importer;
  const onnx::NodeProto &proto;
  const FunctionFrame &frame;
  Scope &scope;
  int64_t opset;

  /// Sets the builder's location and message prefix to this node again. Called after a subgraph has
  /// been imported.
  void restore() { b.setNode(loc, prefix); }

  //===--- Inputs and outputs -------------------------------------------------===//
  std::vector<GraphValue> inputs, outputs;
  int64_t numInputs() const { return int64_t(inputs.size()); }
  int64_t numOutputs() const { return proto.output_size(); }
  /// Returns whether optional input i is present.
  bool has(int64_t i) const { return i < numInputs() && inputs[i].kind != GraphValue::Absent; }
  /// Returns the tensor of input i, or null if an optional input is absent.
  Value in(int64_t i) const { return i < numInputs() ? inputs[i].value : Value(); }
  /// Returns the 8-bit or 4-bit float type of input i if the input is an initializer of such a
  /// type, which is stored as f32. Returns null otherwise.
  const llvm::fltSemantics *smallFloat(int64_t i) const;
  bool hasOutput(int64_t i) const { return i < numOutputs() && !proto.output(i).empty(); }
  void set(int64_t i, GraphValue item);
  void set(int64_t i, Value v) { set(i, GraphValue(v)); }

  //===--- Attributes ---------------------------------------------------------===//
  const onnx::AttributeProto *find(StringRef name) const;
  bool hasAttr(StringRef name) const { return find(name); }
  int64_t integer(StringRef name, int64_t otherwise);
  /// Reads an integer attribute that must be 0 or 1, as a boolean.
  bool flag(StringRef name, bool otherwise = false);
  double real(StringRef name, double otherwise);
  std::string string(StringRef name, StringRef otherwise);
  Dims integers(StringRef name, Dims otherwise = {});
  /// Reads an attribute that must be a list of `number` integers. If the attribute is missing, each
  /// element is `each`.
  Dims integers(StringRef name, int64_t number, int64_t each);
  std::vector<double> reals(StringRef name);
  std::vector<std::string> strings(StringRef name);
  const onnx::GraphProto *graph(StringRef name);
  Value tensor(StringRef name);
  Value tensor(const onnx::TensorProto &proto, StringRef name);
  /// Returns the element type that an attribute specifies as a TensorProto::DataType. Reports an
  /// error if dlc does not support the type.
  Type dataType(StringRef name, int32_t otherwise);
  /// Returns the 8-bit or 4-bit float type that an attribute specifies; null if the attribute
  /// specifies another type.
  const llvm::fltSemantics *smallFloat(StringRef name);
  /// Reports an error for an unsupported value of an attribute. `supported` lists the supported
  /// values.
  void unsupported(StringRef name, const llvm::Twine &value, StringRef supported);

private:
  /// Returns the initializer that provides an input; null if no initializer does.
  const onnx::TensorProto *initializer(int64_t i) const;

  Build &b;
  mlir::Location loc;
  std::string prefix;
};

/// The domain of ONNX Runtime's contrib operators, which its quantizer and its optimizer write.
inline constexpr const char *microsoft = "com.microsoft";
/// The domain of ONNX Runtime's operators on blocked channels (NCHWc).
inline constexpr const char *blocked = "com.microsoft.nchwc";

/// Imports a node: reads its inputs and attributes, builds operations, and sets the outputs of the
/// node.
using Handler = void (*)(Node &n, Build &b);

/// A row of an operator table: an ONNX operator and its handler.
struct Operator {
  /// A row for an operator that has schemas (Schema.h). A null domain means the default domain of
  /// the table.
  constexpr Operator(const char *name, Handler handler, const char *domain = nullptr)
      : name(name), handler(handler), domain(domain) {}
  /// A row for an operator without a schema. `required` is the number of its required inputs, and
  /// `attributes` the names of its attributes, separated by spaces.
  constexpr Operator(const char *name, int required, Handler handler, const char *attributes = "",
                     const char *domain = nullptr)
      : name(name), handler(handler), domain(domain), required(required), attributes(attributes) {}

  const char *name;
  Handler handler;
  const char *domain;
  int required = 0;
  const char *attributes = "";
};

/// Operator tables, one for each family of ONNX operators.
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
/// Operator tables of the families in contrib/, which have ONNX Runtime's contrib operators.
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

/// Returns the operator with the given domain and name, or null if there is none.
const Operator *findOperator(StringRef domain, StringRef name);
/// Returns the newest supported opset of a domain; 0 if the domain is unknown.
int64_t newestOpset(StringRef domain);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_NODE_H

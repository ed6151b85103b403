//===- Node.h - a node of a graph as its handler sees it ------------------===//
#ifndef DLC_FRONTEND_ATEN_NODE_H
#define DLC_FRONTEND_ATEN_NODE_H

#include "frontend/onnx/Build.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace dlc::aten {

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using mlir::Type;
using mlir::Value;
using onnxfront::Build;
using onnxfront::Dims;

/// The element type of that name ("f32", "u8", "bool"), or null.
Type typeNamed(StringRef name, mlir::MLIRContext *context);

/// What names stand for: the results of each node. An input or a constant has one.
using Names = std::map<std::string, std::vector<Value>, std::less<>>;

class Node {
public:
  Node(Build &b, const llvm::json::Object &json, const Names &names);

  //===--- Arguments, by their names in PyTorch's schema ----------------------===//
  // Every reader records the name. An optional argument that differs from its default and that the
  // handler has not read is an error (checkReads).

  /// Whether it is there and not None.
  bool has(StringRef name) const;
  bool isTensor(StringRef name) const;
  /// The tensor; null where it is None. Anything else is an error.
  Value tensor(StringRef name);
  /// A list's tensors, null for None.
  std::vector<Value> tensors(StringRef name);
  /// A tensor converted to an element type, or a number as a scalar of it.
  Value operand(StringRef name, Type element);
  int64_t integer(StringRef name, std::optional<int64_t> otherwise = std::nullopt);
  double real(StringRef name, std::optional<double> otherwise = std::nullopt);
  bool flag(StringRef name, bool otherwise = false);
  std::string text(StringRef name, StringRef otherwise = "");
  /// A list of integers; a single one counts as a list. Empty for None.
  Dims ints(StringRef name);
  /// As many as asked for; one, or none at all with `otherwise`, stands for each.
  Dims ints(StringRef name, int64_t number, std::optional<int64_t> otherwise = std::nullopt);
  std::vector<double> reals(StringRef name);
  /// A dimension of a tensor of that rank; a scalar counts as having one.
  int64_t axis(StringRef name, int64_t rank);
  /// Dimensions, ascending; all of them for None and, where `emptyIsAll`, for none.
  Dims axes(StringRef name, int64_t rank, bool emptyIsAll = true);

  //===--- Types ----------------------------------------------------------------===//
  /// The type that PyTorch gives arguments that meet: those of tensors with dimensions count first,
  /// then those of tensors without, then numbers.
  Type promoted(ArrayRef<StringRef> names);
  /// What PyTorch says of a result; null where nobody uses it.
  mlir::RankedTensorType result(size_t i = 0) const;
  Type resultElement(size_t i = 0) const { return result(i) ? result(i).getElementType() : Type(); }
  size_t numResults() const { return resultTypes.size(); }
  bool wants(size_t i) const { return bool(result(i)); }

  //===--- Results ----------------------------------------------------------------===//
  void set(size_t i, Value v);
  void set(Value v) { set(0, v); }
  /// A list of tensors is one result for each.
  void setAll(ArrayRef<Value> values);
  /// Errors where a result is missing, or is not of the type that PyTorch says.
  bool check();
  /// Errors for an argument that no reader was called for. `set` contains the names of the optional
  /// arguments that differ from their defaults.
  bool checkReads(StringRef op, const llvm::json::Array &set);
  const std::vector<Value> &values() const { return results; }

private:
  const llvm::json::Value *find(StringRef name) const;
  Value named(const llvm::json::Object &reference, StringRef argument);
  bool wrong(StringRef name, StringRef required);

  Build &b;
  const llvm::json::Object *arguments = nullptr;
  /// Names of the arguments that the handler has asked for.
  mutable llvm::StringSet<> reads;
  const Names &names;
  std::vector<mlir::RankedTensorType> resultTypes;
  std::vector<Value> results;
};

/// A number. Floats are texts, so that 2.0 stays apart from 2, and infinity can be said.
std::optional<double> numberOf(const llvm::json::Value &value);
/// A tensor's type, [element, [dimensions..]]; null for anything else.
mlir::RankedTensorType typeOf(const llvm::json::Value &value, mlir::MLIRContext *context);

/// Handlers read the node, build operations, and set results.
using Handler = void (*)(Node &n, Build &b);
/// An overload, with its full name: "add.Tensor".
struct Operator {
  const char *name;
  Handler handler;
};

/// The operator tables, one per family.
ArrayRef<Operator> elementwiseOperators();
ArrayRef<Operator> compareOperators();
ArrayRef<Operator> functionOperators();
ArrayRef<Operator> activationOperators();
ArrayRef<Operator> createOperators();
ArrayRef<Operator> shapeOperators();
ArrayRef<Operator> sliceOperators();
ArrayRef<Operator> padOperators();
ArrayRef<Operator> gatherOperators();
ArrayRef<Operator> scatterOperators();
ArrayRef<Operator> reduceOperators();
ArrayRef<Operator> orderOperators();
ArrayRef<Operator> searchOperators();
ArrayRef<Operator> transformerOperators();
ArrayRef<Operator> contractOperators();
ArrayRef<Operator> convOperators();
ArrayRef<Operator> poolOperators();
ArrayRef<Operator> normOperators();
ArrayRef<Operator> attentionOperators();
ArrayRef<Operator> resizeOperators();
ArrayRef<Operator> randomOperators();
ArrayRef<Operator> recurrentOperators();
ArrayRef<Operator> lossOperators();
ArrayRef<Operator> stridedOperators();
ArrayRef<Operator> bagOperators();
ArrayRef<Operator> distanceOperators();
ArrayRef<Operator> quantizeOperators();
ArrayRef<Operator> gradientOperators();

/// The operator of that name, or null.
const Operator *findOperator(StringRef name);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_NODE_H

//===- Node.h - interface of a graph node for its handler -----------------===//
#ifndef DLC_FRONTEND_ATEN_NODE_H
#define DLC_FRONTEND_ATEN_NODE_H

#include "frontend/builder/Build.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace dlc::aten {

using frontend::Build;
using frontend::Dims;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using mlir::Type;
using mlir::Value;

/// Returns the element type with the given name ("f32", "u8", "bool"), or null if there is none.
Type parseElementType(StringRef name, mlir::MLIRContext *context);

/// Maps the name of a node to its results. The name of an input or a constant maps to one value.
using Names = std::map<std::string, std::vector<Value>, std::less<>>;

class Node {
public:
  Node(Build &b, const llvm::json::Object &json, const Names &names);

  //===--- Arguments, by their names in PyTorch's schema ----------------------===//
  // Each of these readers records the name of the argument that it reads. checkReads() reports an
  // optional argument that differs from its default and was not read.

  /// Returns whether the argument is present and not None.
  bool has(StringRef name) const;
  bool isTensor(StringRef name) const;
  /// Returns a tensor argument, or null if the argument is None. Reports an error for any other
  /// argument.
  Value tensor(StringRef name);
  /// Returns the tensors of a list argument, with null for each None.
  std::vector<Value> tensors(StringRef name);
  /// Returns an argument as a tensor: a tensor cast to the element type, or a number as a scalar of
  /// that type.
  Value operand(StringRef name, Type element);
  int64_t integer(StringRef name, std::optional<int64_t> otherwise = std::nullopt);
  double real(StringRef name, std::optional<double> otherwise = std::nullopt);
  bool flag(StringRef name, bool otherwise = false);
  std::string text(StringRef name, StringRef otherwise = "");
  /// Returns a list of integers. A single integer is treated as a list of one element, and None as
  /// an empty list.
  Dims ints(StringRef name);
  /// Returns a list of `number` integers. A list of one integer is repeated. If the argument is
  /// missing or empty, each element is `otherwise`.
  Dims ints(StringRef name, int64_t number, std::optional<int64_t> otherwise = std::nullopt);
  std::vector<double> reals(StringRef name);
  /// Reads a dimension index for a tensor of rank `rank` and makes it non-negative. A scalar is
  /// treated as having one dimension.
  int64_t axis(StringRef name, int64_t rank);
  /// Returns dimension indices in ascending order. None means all dimensions, as does an empty list
  /// if `emptyIsAll` is set.
  Dims axes(StringRef name, int64_t rank, bool emptyIsAll = true);

  //===--- Types ----------------------------------------------------------------===//
  /// Returns the type to which PyTorch promotes the arguments. Tensors with dimensions take
  /// precedence over 0-d tensors, and 0-d tensors over numbers.
  Type promoted(ArrayRef<StringRef> names);
  /// Returns the type that PyTorch recorded for result i, or null if the result is unused.
  mlir::RankedTensorType result(size_t i = 0) const;
  Type resultElement(size_t i = 0) const { return result(i) ? result(i).getElementType() : Type(); }
  size_t numResults() const { return resultTypes.size(); }
  bool hasResult(size_t i) const { return bool(result(i)); }

  //===--- Results ----------------------------------------------------------------===//
  void set(size_t i, Value v);
  void set(Value v) { set(0, v); }
  /// Sets one result of the node for each value of the list.
  void setAll(ArrayRef<Value> values);
  /// Reports an error if a result is missing or does not have the type that PyTorch recorded.
  bool check();
  /// Reports an error for each argument in `set` that the handler of `op` has not read. `set`
  /// contains the names of the optional arguments that differ from their defaults.
  bool checkReads(StringRef op, const llvm::json::Array &set);
  const std::vector<Value> &values() const { return results; }

private:
  const llvm::json::Value *find(StringRef name) const;
  Value named(const llvm::json::Object &reference, StringRef argument);
  bool wrong(StringRef name, StringRef required);

  Build &b;
  const llvm::json::Object *arguments = nullptr;
  /// Names of the arguments that the handler has read so far.
  mutable llvm::StringSet<> reads;
  const Names &names;
  std::vector<mlir::RankedTensorType> resultTypes;
  std::vector<Value> results;
};

/// Parses a JSON number. Floats are stored as strings, so that 2.0 differs from the integer 2 and
/// infinity can be represented.
std::optional<double> parseNumber(const llvm::json::Value &value);
/// Parses a tensor type in the JSON form [element, [dimensions..]]. Returns null for any other JSON
/// value.
mlir::RankedTensorType parseTensorType(const llvm::json::Value &value, mlir::MLIRContext *context);

/// Imports a node: reads its arguments, builds operations, and sets the results of the node.
using Handler = void (*)(Node &n, Build &b);
/// A row of an operator table: an ATen operator overload by its full name, such as "add.Tensor",
/// and its handler.
struct Operator {
  const char *name;
  Handler handler;
};

/// Operator tables, one for each family of ATen operators.
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

/// Returns the operator with the given name, or null if there is none.
const Operator *findOperator(StringRef name);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_NODE_H

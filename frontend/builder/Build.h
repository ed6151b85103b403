//===- Build.h - builds, checks and folds dlc operations ------------------===//
// Helper of the importer's handlers. Errors are sticky: the first error is reported with the node's
// name and location, and returns a null value. Later calls with a null operand return null, so
// handlers need no check per line. They must check `ok()` before they read shapes. A null operand
// without an earlier error means that the node lacks an input, which is an error.
#ifndef DLC_FRONTEND_BUILDER_BUILD_H
#define DLC_FRONTEND_BUILDER_BUILD_H

#include "ir/dlc/Dialect.h"
#include "ir/dlc/OperandSegments.h"
#include "ir/tensor/Tensor.h"
#include "llvm/ADT/SetVector.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlc::frontend {

using llvm::ArrayRef;
using llvm::StringRef;
using mlir::Type;
using mlir::Value;
using Dims = std::vector<int64_t>;

class TrainingState;

class Build {
public:
  Build(mlir::MLIRContext *context, mlir::Block *entry);

  //===--- Errors -----------------------------------------------------------===//
  bool ok() const { return !failed; }
  /// Reports an error unless one has been reported already. Always returns a null value.
  Value error(const llvm::Twine &message);
  /// Reports an error if the condition is false. Returns whether no error has occurred so far.
  bool require(bool condition, const llvm::Twine &message);
  /// Sets the node that is being imported: `loc` is the location of new operations, and `prefix`
  /// the prefix of error messages.
  void setNode(mlir::Location loc, std::string prefix);
  /// While set, errors are recorded without a message. Set by callers that try an alternative after
  /// a failure.
  bool silent = false;
  /// Clears the sticky error after a failed attempt, so that the import can continue with an
  /// alternative.
  void clearError() { failed = false; }
  mlir::Location getLoc() const { return loc; }
  const std::string &getPrefix() const { return prefix; }
  /// Destroys the operations that were built in a region and removes their results from the cache
  /// of constant values.
  void discard(mlir::Region &region);

  //===--- Types and known values ---------------------------------------------===//
  mlir::RankedTensorType type(Value v) const;
  Type elem(Value v) const;
  ArrayRef<int64_t> shape(Value v) const;
  Dims dims(Value v) const { return shape(v).vec(); }
  int64_t rank(Value v) const { return int64_t(shape(v).size()); }
  /// Returns the size of a dimension. A negative index counts from the end. An index out of range
  /// is an error and returns 1.
  int64_t dim(Value v, int64_t index);
  /// Returns the number of elements of v; 1 if v is null.
  int64_t count(Value v) const;
  /// Returns whether a number is a plausible size, from `low` to 2^31. Products of two such sizes
  /// do not overflow.
  static bool isSane(int64_t value, int64_t low) {
    return value >= low && value <= (int64_t(1) << 31);
  }
  /// Checks that an axis is valid for a rank and returns it as a non-negative index; 0 after an
  /// error.
  int64_t axis(int64_t axis, int64_t rank, StringRef what = "axis");
  /// Checks that several axes are valid and distinct, and returns them as non-negative indices.
  /// Returns an empty list after an error.
  Dims distinctAxes(ArrayRef<int64_t> axes, int64_t rank);
  bool isFloat(Value v) const { return llvm::isa_and_nonnull<mlir::FloatType>(elem(v)); }
  bool isBool(Value v) const { return elem(v) && elem(v).isInteger(1); }
  /// Returns whether the element type is a 16-bit float (f16 or bf16). Such operands are computed
  /// with f32 intermediate results.
  bool isHalf(Value v) const { return isFloat(v) && elem(v).getIntOrFloatBitWidth() == 16; }

  /// Returns the elements of v if v is a constant of at most `foldLimit` elements or has no
  /// elements; otherwise nothing.
  std::optional<ref::Tensor> known(Value v);
  /// Evaluates v at import by computing the operations that produce it. Returns nothing if v
  /// depends on values that are known only at run time.
  std::optional<ref::Tensor> attempt(Value v);
  /// Evaluates v at import. If v depends on graph inputs, reports an error that names the inputs
  /// whose values must be given. `what` describes v in the message.
  std::optional<ref::Tensor> need(Value v, const llvm::Twine &what);
  /// Evaluates a scalar or a vector of integers at import and returns its elements. Reports an
  /// error if that is not possible.
  Dims needInts(Value v, const llvm::Twine &what);
  int64_t needInt(Value v, const llvm::Twine &what);
  double needDouble(Value v, const llvm::Twine &what);
  /// Names of the graph inputs whose values the import requires but did not get.
  llvm::SetVector<StringRef> needed;
  /// Returns the input name of a function argument.
  std::function<StringRef(mlir::BlockArgument)> inputName;

  //===--- Constants ----------------------------------------------------------===//
  Type f32, f64, i64, i32, i1;
  Value constant(const ref::Tensor &tensor, StringRef name = "");
  /// Builds the attribute of a constant. A large tensor with a name becomes a blob (dense_resource)
  /// that shares the tensor's storage.
  static mlir::ElementsAttr elements(const ref::Tensor &tensor, StringRef name);
  Value scalar(Type element, double value) { return splat(element, {}, value); }
  Value scalarInt(Type element, int64_t value);
  Value splat(Type element, ArrayRef<int64_t> shape, double value);
  /// Returns a constant of the given shape whose elements all equal the single element of `tensor`.
  Value splat(const ref::Tensor &tensor, ArrayRef<int64_t> shape);
  Value ints(ArrayRef<int64_t> values);
  Value ints(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, Type element);
  Value floats(ArrayRef<double> values, ArrayRef<int64_t> shape, Type element);
  /// Returns a scalar constant of x's element type.
  Value like(Value x, double value) { return scalar(elem(x) ? elem(x) : f32, value); }

  //===--- General operation builders -----------------------------------------===//
  /// Builds an operation, infers its result types, and returns its only result. If the operation is
  /// small and its operands are constants, it is folded.
  template <typename Op>
  std::vector<Value> ops(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {});
  template <typename Op>
  Value op(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return first(ops<Op>(operands, attributes));
  }
  /// Builds an operation with an explicit result type.
  template <typename Op>
  Value typed(Type result, ArrayRef<Value> operands,
              ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::NamedAttribute attr(StringRef name, int64_t value);
  mlir::NamedAttribute attr(StringRef name, ArrayRef<int64_t> values);
  mlir::NamedAttribute attr(StringRef name, mlir::Attribute value) {
    return b.getNamedAttr(name, value);
  }
  mlir::NamedAttribute attrFloat(StringRef name, double value) {
    return attr(name, b.getF64FloatAttr(value));
  }
  mlir::NamedAttribute attrUnit(StringRef name) { return attr(name, b.getUnitAttr()); }

  //===--- Elementwise --------------------------------------------------------===//
  template <typename Op> Value unary(Value x) { return op<Op>({x}); }
  Value add(Value a, Value c) { return op<AddOp>({a, c}); }
  Value sub(Value a, Value c) { return op<SubOp>({a, c}); }
  Value mul(Value a, Value c) { return op<MulOp>({a, c}); }
  Value div(Value a, Value c) { return op<DivOp>({a, c}); }
  Value add(Value a, double c) { return add(a, like(a, c)); }
  Value sub(Value a, double c) { return sub(a, like(a, c)); }
  Value mul(Value a, double c) { return mul(a, like(a, c)); }
  Value div(Value a, double c) { return div(a, like(a, c)); }
  Value rem(Value a, Value c, bool truncated = false);
  Value pow(Value a, Value c) { return op<PowOp>({a, c}); }
  Value max(Value a, Value c) { return op<MaxOp>({a, c}); }
  Value min(Value a, Value c) { return op<MinOp>({a, c}); }
  /// Returns the maximum of x and a bound. If x equals the bound, neither gets a gradient.
  Value atLeast(Value x, Value low);
  /// Returns the minimum of x and a bound. If x equals the bound, neither gets a gradient.
  Value atMost(Value x, Value high);
  Value clamp(Value x, double low, double high) {
    return atMost(atLeast(x, like(x, low)), like(x, high));
  }
  /// Returns sum / total, the weighted mean of a loss. If the total is 0, the result is NaN with a
  /// gradient of 0.
  Value weightedMean(Value sum, Value total);
  Value both(Value a, Value c) { return op<AndOp>({a, c}); }
  Value either(Value a, Value c) { return op<OrOp>({a, c}); }
  Value negate(Value a) { return op<NotOp>({a}); }
  Value compare(Predicate predicate, Value a, Value c);
  Value select(Value condition, Value a, Value c) { return op<SelectOp>({condition, a, c}); }
  Value cast(Value x, Type element);
  /// Casts 16-bit floats to f32; returns other values unchanged.
  Value widen(Value x) { return isHalf(x) ? cast(x, f32) : x; }

  //===--- Shape --------------------------------------------------------------===//
  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  /// Transposes the last two dimensions of x.
  Value swapLast(Value x);
  Value broadcast(Value x, ArrayRef<int64_t> shape);
  Value slice(Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> size, ArrayRef<int64_t> stride);
  /// Slices `size` elements of x from index `start` on along one axis.
  Value sliceAxis(Value x, int64_t axis, int64_t start, int64_t size, int64_t stride = 1);
  /// Selects one index along an axis of x and removes the axis.
  Value at(Value x, int64_t axis, int64_t index);
  Value reverse(Value x, int64_t axis);
  Value concat(ArrayRef<Value> xs, int64_t axis);
  /// Concatenates tensors of the same shape along a new axis.
  Value stack(ArrayRef<Value> xs, int64_t axis);
  Value pad(Value x, Value value, PadMode mode, ArrayRef<int64_t> low, ArrayRef<int64_t> high);
  Value padZero(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high);
  Value iota(Type element, ArrayRef<int64_t> shape, int64_t axis);
  Value expandDims(Value x, int64_t axis);
  Value flatten(Value x) { return reshape(x, {count(x)}); }

  //===--- The rest -----------------------------------------------------------===//
  Value gather(Value x, Value indices, int64_t axis) {
    return op<GatherOp>({x, indices}, {attr("axis", axis)});
  }
  Value gatherNd(Value x, Value indices, int64_t batchDims = 0);
  Value reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keepdims);
  /// Inclusive cumulative sum of x along an axis.
  Value runningSum(Value x, int64_t axis);
  /// Returns x with `updates` scattered to `indices` along an axis. `updates` has the shape of
  /// `indices`.
  Value scatter(Value x, Value indices, Value updates, int64_t axis,
                ScatterReduction reduction = ScatterReduction::none);
  Value matmul(Value a, Value c, bool transposeA = false, bool transposeB = false);
  Value softmax(Value x, int64_t axis) { return op<SoftmaxOp>({x}, {attr("axis", axis)}); }
  Value sigmoid(Value x) { return op<SigmoidOp>({x}); }

  mlir::OpBuilder b;
  mlir::MLIRContext *context;
  /// State arguments of the function, which replace floating-point initializers. Null outside of
  /// the ONNX importer.
  TrainingState *state = nullptr;
  /// Equal to `state` if the model is imported for training; otherwise null.
  TrainingState *training = nullptr;
  /// Maximum number of elements of constants that the importer folds. Larger constants are folded
  /// by later passes.
  static constexpr int64_t foldLimit = 64 * 1024;
  /// Maximum number of elements of a value that the importer evaluates.
  static constexpr int64_t needLimit = 1024 * 1024;
  /// Maximum number of elements of a tensor. A larger tensor indicates an invalid model.
  static constexpr int64_t countLimit = int64_t(1) << 40;
  /// Maximum number of operations of a module. More operations indicate a loop that is unrolled too
  /// far, or endless recursion of functions.
  static constexpr int64_t operationLimit = 1 << 20;

  /// Builds an operation with optional operands. Null operands are omitted.
  template <typename Op>
  Value opWithOptional(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {});

private:
  Value first(const std::vector<Value> &values) {
    return values.empty() ? Value() : values.front();
  }
  /// Returns the operands with 4-bit integers cast to 8 bits; an empty list if no operand has 4-bit
  /// integers.
  llvm::SmallVector<Value> widened(ArrayRef<Value> operands);
  /// Casts the 8-bit results of an operation whose operands were cast by widened() back to the
  /// 4-bit type of `operands`.
  std::vector<Value> narrowed(std::vector<Value> results, ArrayRef<Value> operands);
  /// Creates the operation, verifies it, and replaces it by constants if it folds. If the operation
  /// does not accept 4-bit integers, it is computed in 8 bits.
  std::vector<Value> finish(mlir::OperationState &state);
  /// Runs f and returns its result. Stores the first diagnostic that f emits in `reason`, instead
  /// of reporting any.
  bool quietly(std::string &reason, llvm::function_ref<bool()> f);
  /// Reports an error for a shape with negative dimensions or too many elements.
  bool checkShape(ArrayRef<int64_t> shape);
  Value materialise(mlir::ElementsAttr attr, mlir::RankedTensorType type);
  /// Returns whether an operand is null, after reporting an error.
  bool lacks(ArrayRef<Value> operands);
  std::optional<ref::Tensor> compute(Value v, std::string &reason);
  /// Collects the operations that compute `root`, operations before their users, and the names of
  /// the model's inputs that the value depends on. Sets `reason` if it cannot be computed at
  /// import.
  void orderOperations(Value root, llvm::SmallVectorImpl<mlir::Operation *> &order,
                       llvm::SetVector<StringRef> &inputs, std::string &reason);
  /// Computes the results of an operation, whose operands are known, and adds them to `tensors`.
  /// Returns false and sets `reason` if that is not possible.
  bool evaluate(mlir::Operation *op, std::string &reason);

  mlir::Block *entry;
  mlir::Operation *lastConstant = nullptr;
  llvm::DenseMap<mlir::Attribute, Value> constants;
  llvm::DenseMap<Value, ref::Tensor> tensors;
  mlir::Location loc;
  std::string prefix;
  bool failed = false;
  int64_t made = 0;
};

template <typename Op>
std::vector<Value> Build::ops(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes) {
  if (failed || lacks(operands))
    return {};
  auto dictionary = b.getDictionaryAttr(attributes);
  mlir::OperationState state(loc, Op::getOperationName());
  state.addOperands(operands);
  typename Op::Properties properties{};
  llvm::SmallVector<Type> types;
  std::string reason;
  bool built = quietly(reason, [&] {
    if (mlir::failed(Op::setPropertiesFromAttr(properties, dictionary,
                                               [&] { return mlir::emitError(loc); })))
      return false;
    // If the attribute operandSegmentSizes is missing, the operands are the first ones of the
    // operation, and trailing optional operands are omitted.
    if (!dictionary.contains("operandSegmentSizes"))
      omitLastOperands(properties, operands.size());
    return mlir::succeeded(
        Op::inferReturnTypes(context, loc, operands, dictionary, &properties, {}, types));
  });
  if (auto wide = built ? llvm::SmallVector<Value>() : widened(operands); !wide.empty())
    return narrowed(ops<Op>(wide, attributes), operands);
  if (!built) {
    error(reason.empty() ? "'" + Op::getOperationName().str() + "' does not take these operands"
                         : reason);
    return {};
  }
  if constexpr (!std::is_same_v<typename Op::Properties, mlir::EmptyProperties>)
    state.getOrAddProperties<typename Op::Properties>() = properties;
  state.addTypes(types);
  return finish(state);
}

template <typename Op>
Value Build::opWithOptional(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes) {
  llvm::SmallVector<Value> given;
  llvm::SmallVector<int32_t> segments;
  for (Value operand : operands) {
    segments.push_back(operand ? 1 : 0);
    if (operand)
      given.push_back(operand);
  }
  llvm::SmallVector<mlir::NamedAttribute> all(attributes);
  all.push_back(attr("operandSegmentSizes", b.getDenseI32ArrayAttr(segments)));
  return op<Op>(given, all);
}

template <typename Op>
Value Build::typed(Type result, ArrayRef<Value> operands,
                   ArrayRef<mlir::NamedAttribute> attributes) {
  if (failed || lacks(operands) || !result)
    return {};
  mlir::OperationState state(loc, Op::getOperationName());
  state.addOperands(operands);
  state.addAttributes(attributes);
  state.addTypes(result);
  return first(finish(state));
}

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_BUILD_H

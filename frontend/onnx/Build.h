//===- Build.h - dlc operations, built, checked and folded one by one -----===//
// The importer's hand. Errors are sticky: the first is reported with the node's name and place, the
// value is null from there on, and every further step with a null operand gives null. Handlers can
// so be written without a test per line; they test `ok()` before they look at shapes. A null
// operand where nothing has failed is an input that the node lacks, and an error.
#ifndef DLC_FRONTEND_ONNX_BUILD_H
#define DLC_FRONTEND_ONNX_BUILD_H

#include "ir/dlc/Dialect.h"
#include "ir/dlc/OperandSegments.h"
#include "ir/tensor/Tensor.h"
#include "llvm/ADT/SetVector.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlc::onnxfront {

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
  /// Reports an error, unless one is reported already. Always returns a null value.
  Value error(const llvm::Twine &message);
  /// Errors unless the condition holds; returns whether all is well so far.
  bool require(bool condition, const llvm::Twine &message);
  /// Where the importer stands: the location of new operations, and how messages begin.
  void setNode(mlir::Location loc, std::string prefix);
  /// While set, errors fail without a word: something else will be tried.
  bool silent = false;
  /// Takes the failure back after something tried.
  void forgive() { failed = false; }
  mlir::Location getLoc() const { return loc; }
  const std::string &getPrefix() const { return prefix; }
  /// Destroys what was built in a region, and forgets what was known of it.
  void discard(mlir::Region &region);

  //===--- What is known of a value -------------------------------------------===//
  mlir::RankedTensorType type(Value v) const;
  Type elem(Value v) const;
  ArrayRef<int64_t> shape(Value v) const;
  Dims dims(Value v) const { return shape(v).vec(); }
  int64_t rank(Value v) const { return int64_t(shape(v).size()); }
  /// Negative counts from the end. An index out of range is an error and gives 1.
  int64_t dim(Value v, int64_t index);
  /// Elements; 1 for null.
  int64_t count(Value v) const;
  /// Whether a number can be a size: from `low` to 2^31, so that products of two do not overflow.
  static bool isSane(int64_t value, int64_t low) {
    return value >= low && value <= (int64_t(1) << 31);
  }
  /// Checks an axis against a rank and makes it non-negative; an error gives 0.
  int64_t axis(int64_t axis, int64_t rank, StringRef what = "axis");
  /// The same for several axes, which must be distinct; empty after an error.
  Dims distinctAxes(ArrayRef<int64_t> axes, int64_t rank);
  bool isFloat(Value v) const { return llvm::isa_and_nonnull<mlir::FloatType>(elem(v)); }
  bool isBool(Value v) const { return elem(v) && elem(v).isInteger(1); }
  /// 16-bit floats: where intermediate results want f32.
  bool isHalf(Value v) const { return isFloat(v) && elem(v).getIntOrFloatBitWidth() == 16; }

  /// The value, when it is a constant of at most `foldLimit` elements, or has no elements.
  std::optional<ref::Tensor> known(Value v);
  /// The value, computed if need be; nothing where it depends on what the run is given.
  std::optional<ref::Tensor> attempt(Value v);
  /// The value, computed if need be, or an error that names the graph inputs whose values must be
  /// given.
  std::optional<ref::Tensor> need(Value v, const llvm::Twine &what);
  /// The elements of a scalar or a vector.
  Dims needInts(Value v, const llvm::Twine &what);
  int64_t needInt(Value v, const llvm::Twine &what);
  double needDouble(Value v, const llvm::Twine &what);
  /// Graph inputs whose values were asked for.
  llvm::SetVector<StringRef> needed;
  /// The name of an argument of the function.
  std::function<StringRef(mlir::BlockArgument)> inputName;

  //===--- Constants ----------------------------------------------------------===//
  Type f32, f64, i64, i32, i1;
  Value constant(const ref::Tensor &tensor, StringRef name = "");
  /// Large tensors with a name become blobs that share the storage.
  static mlir::ElementsAttr elements(const ref::Tensor &tensor, StringRef name);
  Value scalar(Type element, double value) { return splat(element, {}, value); }
  Value scalarInt(Type element, int64_t value);
  Value splat(Type element, ArrayRef<int64_t> shape, double value);
  /// The one element of a tensor, in every place of a shape.
  Value splat(const ref::Tensor &tensor, ArrayRef<int64_t> shape);
  Value ints(ArrayRef<int64_t> values);
  Value ints(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, Type element);
  Value floats(ArrayRef<double> values, ArrayRef<int64_t> shape, Type element);
  /// A scalar of x's element type.
  Value like(Value x, double value) { return scalar(elem(x) ? elem(x) : f32, value); }

  //===--- Any operation ------------------------------------------------------===//
  /// Builds an operation whose result types are inferred; folds it when it is small and its
  /// operands are constants.
  template <typename Op>
  std::vector<Value> ops(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {});
  template <typename Op>
  Value op(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return first(ops<Op>(operands, attributes));
  }
  /// Builds an operation with a given result type.
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
  /// The larger of x and a bound, without a gradient where both are equal.
  Value atLeast(Value x, Value low);
  /// The smaller of x and a bound, without a gradient where both are equal.
  Value atMost(Value x, Value high);
  Value clamp(Value x, double low, double high) {
    return atMost(atLeast(x, like(x, low)), like(x, high));
  }
  /// sum / total. NaN with a gradient of 0 where the total is 0.
  Value weightedMean(Value sum, Value total);
  Value both(Value a, Value c) { return op<AndOp>({a, c}); }
  Value either(Value a, Value c) { return op<OrOp>({a, c}); }
  Value negate(Value a) { return op<NotOp>({a}); }
  Value compare(Predicate predicate, Value a, Value c);
  Value select(Value condition, Value a, Value c) { return op<SelectOp>({condition, a, c}); }
  Value cast(Value x, Type element);
  /// f32 for 16-bit floats, else the value itself.
  Value widen(Value x) { return isHalf(x) ? cast(x, f32) : x; }

  //===--- Shape --------------------------------------------------------------===//
  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  /// Swaps the last two dimensions.
  Value swapLast(Value x);
  Value broadcast(Value x, ArrayRef<int64_t> shape);
  Value slice(Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> size, ArrayRef<int64_t> stride);
  /// `size` elements from `start` on along one axis.
  Value sliceAxis(Value x, int64_t axis, int64_t start, int64_t size, int64_t stride = 1);
  /// The slice at an index of one axis, which goes away.
  Value at(Value x, int64_t axis, int64_t index);
  Value reverse(Value x, int64_t axis);
  Value concat(ArrayRef<Value> xs, int64_t axis);
  /// Joins along a new axis.
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
  /// Sums up to each element along an axis.
  Value runningSum(Value x, int64_t axis);
  /// x with updates of the indices' shape written to places along an axis.
  Value scatter(Value x, Value indices, Value updates, int64_t axis,
                ScatterReduction reduction = ScatterReduction::none);
  Value matmul(Value a, Value c, bool transposeA = false, bool transposeB = false);
  Value softmax(Value x, int64_t axis) { return op<SoftmaxOp>({x}, {attr("axis", axis)}); }
  Value sigmoid(Value x) { return op<SigmoidOp>({x}); }

  mlir::OpBuilder b;
  mlir::MLIRContext *context;
  /// Of the initializers that are arguments.
  TrainingState *state = nullptr;
  /// The same, set where the model is to be trained.
  TrainingState *training = nullptr;
  /// Constants with more elements are left to the passes.
  static constexpr int64_t foldLimit = 64 * 1024;
  /// Values asked for at import time have no more elements.
  static constexpr int64_t needLimit = 1024 * 1024;
  /// More elements are a mistake rather than a tensor.
  static constexpr int64_t countLimit = int64_t(1) << 40;
  /// More operations are a loop unrolled too far, or functions that call one another without end.
  static constexpr int64_t operationLimit = 1 << 20;

  /// The same of an operation with optional operands, of which null ones are left out.
  template <typename Op>
  Value opWithOptional(ArrayRef<Value> operands, ArrayRef<mlir::NamedAttribute> attributes = {});

private:
  Value first(const std::vector<Value> &values) {
    return values.empty() ? Value() : values.front();
  }
  /// The operands with 4-bit integers in 8 bits; empty if there are none.
  llvm::SmallVector<Value> widened(ArrayRef<Value> operands);
  /// Results of an operation on widened operands, of the operands' 4-bit type where they have the
  /// type of 8 bits.
  std::vector<Value> narrowed(std::vector<Value> results, ArrayRef<Value> operands);
  /// Creates the operation, verifies it, and replaces it by constants where it folds. An operation
  /// that does not accept 4-bit integers is computed in 8 bits.
  std::vector<Value> finish(mlir::OperationState &state);
  /// Runs f; what it says goes to `reason` and not to the user.
  bool quietly(std::string &reason, llvm::function_ref<bool()> f);
  /// Errors on a negative dimension, and on too many elements.
  bool checkShape(ArrayRef<int64_t> shape);
  Value materialise(mlir::ElementsAttr attr, mlir::RankedTensorType type);
  /// An error where an operand is null.
  bool lacks(ArrayRef<Value> operands);
  std::optional<ref::Tensor> compute(Value v, std::string &reason);

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
    // Optional operands are left out from the end, unless the attribute says which there are.
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

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_BUILD_H

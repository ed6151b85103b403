//===- Build.cpp - builds, checks and folds dlc operations ----------------===//
#include "frontend/builder/Build.h"

#include "ir/dlc/Infer.h"
#include "ir/reference/Evaluate.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace dlc::frontend {

Build::Build(MLIRContext *context, Block *entry)
    : b(context), context(context), entry(entry), loc(UnknownLoc::get(context)) {
  f32 = b.getF32Type();
  f64 = b.getF64Type();
  i64 = b.getI64Type();
  i32 = b.getI32Type();
  i1 = b.getI1Type();
  b.setInsertionPointToEnd(entry);
}

//===--- Errors -------------------------------------------------------------===//

Value Build::error(const Twine &message) {
  if (!failed && !silent)
    emitError(loc) << prefix << message;
  failed = true;
  return {};
}

bool Build::require(bool condition, const Twine &message) {
  if (!condition)
    error(message);
  return ok();
}

void Build::setNode(Location location, std::string text) {
  loc = location;
  prefix = std::move(text);
}

void Build::discard(Region &region) {
  region.walk([&](Operation *op) {
    for (Value result : op->getResults())
      tensors.erase(result);
  });
  region.dropAllReferences();
  region.getBlocks().clear();
}

bool Build::quietly(std::string &reason, llvm::function_ref<bool()> f) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  return f();
}

//===--- Types and known values ----------------------------------------------===//

RankedTensorType Build::type(Value v) const {
  return v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
}

Type Build::elem(Value v) const {
  auto t = type(v);
  return t ? t.getElementType() : Type();
}

ArrayRef<int64_t> Build::shape(Value v) const {
  auto t = type(v);
  return t ? t.getShape() : ArrayRef<int64_t>();
}

int64_t Build::dim(Value v, int64_t index) {
  int64_t r = rank(v), i = index < 0 ? index + r : index;
  if (i < 0 || i >= r) {
    error("required a tensor with dimension " + Twine(index) + ", found one of rank " + Twine(r));
    return 1;
  }
  return shape(v)[i];
}

int64_t Build::count(Value v) const {
  int64_t n = 1;
  for (int64_t d : shape(v))
    n *= d;
  return n;
}

int64_t Build::axis(int64_t axis, int64_t rank, StringRef what) {
  int64_t a = axis < 0 ? axis + rank : axis;
  if (a < 0 || a >= rank) {
    error(what + " must be from " + Twine(-rank) + " to " + Twine(rank - 1) + ", and is " +
          Twine(axis));
    return 0;
  }
  return a;
}

Dims Build::distinctAxes(ArrayRef<int64_t> axes, int64_t rank) {
  Dims result;
  for (int64_t each : axes) {
    int64_t a = axis(each, rank);
    if (!ok() || !require(!llvm::is_contained(result, a),
                          "axis " + Twine(a) + " is given twice; required: distinct axes; found: " +
                              Twine(each) + " again; remove one of them"))
      return {};
    result.push_back(a);
  }
  return result;
}

//===--- Constants -----------------------------------------------------------===//

ElementsAttr Build::elements(const ref::Tensor &tensor, StringRef name) {
  constexpr int64_t inlineBytes = 1024;
  if (name.empty() || tensor.bytes() < inlineBytes || tensor.getElementType().isInteger(1))
    return tensor.toAttr();
  return tensor.toResource(name);
}

Value Build::constant(const ref::Tensor &tensor, StringRef name) {
  if (!tensor) {
    error("a constant has no value");
    return {};
  }
  Value value = materialise(elements(tensor, name), tensor.getType());
  if (tensor.size() <= foldLimit)
    tensors[value] = tensor;
  return value;
}

Value Build::materialise(ElementsAttr attr, RankedTensorType type) {
  Value &value = constants[attr];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(b);
  if (lastConstant)
    b.setInsertionPointAfter(lastConstant);
  else
    b.setInsertionPointToStart(entry);
  OperationState state(loc, ConstantOp::getOperationName());
  state.addAttribute("value", attr);
  state.addTypes(type);
  lastConstant = b.create(state);
  value = lastConstant->getResult(0);
  return value;
}

Value Build::scalarInt(Type element, int64_t value) { return ints(value, {}, element); }

Value Build::splat(Type element, ArrayRef<int64_t> shape, double value) {
  if (!element)
    return {};
  auto tensor = ref::Tensor::empty(RankedTensorType::get({}, element));
  tensor.setDouble(0, value);
  return shape.empty() ? constant(tensor) : splat(tensor, shape);
}

bool Build::checkShape(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (!require(d >= 0 && (d == 0 || n <= countLimit / d),
                 "a shape has the invalid dimension " + Twine(d)))
      return false;
    n *= std::max<int64_t>(d, 1);
  }
  return true;
}

Value Build::splat(const ref::Tensor &tensor, ArrayRef<int64_t> shape) {
  if (!checkShape(shape))
    return {};
  auto element = dyn_cast<DenseElementsAttr>(tensor.toAttr());
  if (!element || llvm::is_contained(shape, 0))
    return constant(ref::Tensor::empty(RankedTensorType::get(shape, tensor.getElementType())));
  auto type = RankedTensorType::get(shape, tensor.getElementType());
  return materialise(DenseElementsAttr::get(type, element.getSplatValue<Attribute>()), type);
}

Value Build::ints(ArrayRef<int64_t> values) { return ints(values, {int64_t(values.size())}, i64); }

Value Build::ints(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, Type element) {
  if (!checkShape(shape) || !element)
    return {};
  auto tensor = ref::Tensor::empty(RankedTensorType::get(shape, element));
  if (!require(tensor.size() == int64_t(values.size()),
               "the shape of a constant does not match its number of elements"))
    return {};
  for (auto [i, value] : llvm::enumerate(values))
    isa<FloatType>(element) ? tensor.setDouble(i, double(value)) : tensor.setInt(i, value);
  return constant(tensor);
}

Value Build::floats(ArrayRef<double> values, ArrayRef<int64_t> shape, Type element) {
  if (!checkShape(shape) || !element)
    return {};
  auto tensor = ref::Tensor::empty(RankedTensorType::get(shape, element));
  if (!require(tensor.size() == int64_t(values.size()),
               "the shape of a constant does not match its number of elements"))
    return {};
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setDouble(i, value);
  return constant(tensor);
}

//===--- General operation builders ------------------------------------------===//

NamedAttribute Build::attr(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}

NamedAttribute Build::attr(StringRef name, ArrayRef<int64_t> values) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
}

bool Build::lacks(ArrayRef<Value> operands) {
  return !require(llvm::all_of(operands, [](Value v) { return bool(v); }),
                  "a required input is missing");
}

SmallVector<Value> Build::widened(ArrayRef<Value> operands) {
  if (llvm::none_of(operands, [&](Value v) { return ref::isPackedElement(elem(v)); }))
    return {};
  return llvm::map_to_vector(operands, [&](Value v) { return cast(v, withEightBits(elem(v))); });
}

std::vector<Value> Build::narrowed(std::vector<Value> results, ArrayRef<Value> operands) {
  for (Value &result : results)
    for (Value operand : operands)
      if (ref::isPackedElement(elem(operand)) && elem(result) == withEightBits(elem(operand)))
        result = cast(result, elem(operand));
  return results;
}

std::vector<Value> Build::finish(OperationState &state) {
  if (++made > operationLimit) {
    error("the model has more than " + Twine(operationLimit) +
          " operations after loops are unrolled and functions are inlined");
    return {};
  }
  int64_t results = 0, operands = 0;
  for (Type type : state.types) {
    int64_t n = 1;
    for (int64_t d : llvm::cast<RankedTensorType>(type).getShape()) {
      if (d < 0 || (d > 0 && n > countLimit / d)) {
        error("a result would have a dynamic dimension, or more than " + Twine(countLimit) +
              " elements");
        return {};
      }
      n *= std::max<int64_t>(d, 1);
    }
    results += n;
  }
  bool constant = true;
  for (Value v : state.operands) {
    operands += count(v);
    constant &= v.getDefiningOp<ConstantOp>() != nullptr;
  }
  Operation *op = b.create(state);
  std::string reason;
  if (!quietly(reason,
               [&] { return mlir::succeeded(mlir::verify(op, /*verifyRecursively=*/false)); })) {
    op->erase();
    SmallVector<Value> given(state.operands.begin(), state.operands.end()), wide = widened(given);
    if (wide.empty()) {
      error(reason);
      return {};
    }
    state.operands.assign(wide.begin(), wide.end());
    for (Type &type : state.types) {
      auto tensor = llvm::cast<RankedTensorType>(type);
      type = tensor.clone(withEightBits(tensor.getElementType()));
    }
    return narrowed(finish(state), given);
  }
  std::vector<Value> values(op->result_begin(), op->result_end());
  // Dequantizations are not folded, because later passes decide whether quantized weights remain
  // integers.
  auto cast = dyn_cast<CastOp>(op);
  constexpr int64_t kMin = 16;
  if ((isa<DequantizeOp>(op) ||
       (cast && isNarrowInteger(elem(cast.getX())) && !isNarrowInteger(cast.getTo()))) &&
      operands > kMin)
    return values;
  // Operations whose result is much larger than their operands, such as broadcasts, are not folded:
  // recomputing them is cheaper than reading the result.
  if (!constant || op->getNumRegions() || isa<RandomOp>(op) || operands > foldLimit ||
      results > std::max<int64_t>(256, operands))
    return values;
  SmallVector<ref::Tensor> inputs, outputs;
  for (Value v : op->getOperands()) {
    auto tensor = known(v);
    if (!tensor)
      return values;
    inputs.push_back(*tensor);
  }
  auto outer = [](Value) { return ref::Tensor(); };
  if (!quietly(reason,
               [&] { return mlir::succeeded(ref::evaluateOp(op, inputs, outer, outputs)); }) ||
      outputs.size() != values.size())
    return values;
  op->erase();
  values.clear();
  for (const ref::Tensor &tensor : outputs)
    values.push_back(this->constant(tensor));
  return values;
}

} // namespace dlc::frontend

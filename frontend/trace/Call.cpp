//===- Call.cpp - one call of a public function: operands, operations, errors ===//
#include "frontend/trace/State.h"
#include "ir/dlc/Attributes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

ApiCall::ApiCall(StringRef what, std::initializer_list<const Operand *> operands) : what(what) {
  enter(ArrayRef<const Operand *>(operands.begin(), operands.size()));
}

ApiCall::ApiCall(StringRef what, const Operands &operands) : what(what) {
  SmallVector<const Operand *> pointers;
  for (const Operand &operand : operands)
    pointers.push_back(&operand);
  enter(pointers);
}

ApiCall::ApiCall(StringRef what, const Location &location) : what(what) {
  Operand place(0, location);
  const Operand *one = &place;
  enter(one);
}

void ApiCall::enter(ArrayRef<const Operand *> operands) {
  // Composite functions call other functions. Their operations get the location of the outermost
  // call.
  location = operands.empty() ? Location() : operands.front()->location;
  active = State::current();
  if (active)
    location = active->outermost(location);
  for (const Operand *operand : operands) {
    if (operand->kind != Operand::Kind::Tensor)
      continue;
    State *owner = State::ownerOf(operand->tensor);
    if (!owner->open)
      fail("an operand belongs to a trace that has ended; tensors live only inside the traced "
           "function");
    if (owner != active)
      fail("an operand belongs to another trace; use the tensors that this traced function was "
           "given");
  }
  if (!active)
    fail("no trace is in progress; call this inside a function given to dlc::trace::trace()");
  mlirLocation = active->locate(location);
  active->locations.push_back(location);
  pushed = true;
  for (const Operand *operand : operands) {
    if (numberType)
      break;
    if (operand->kind == Operand::Kind::Tensor || operand->kind == Operand::Kind::Parameter)
      numbersLike({operand});
  }
}

ApiCall::~ApiCall() {
  if (pushed)
    active->locations.pop_back();
}

void ApiCall::raise(const std::string &text) const {
  std::string inside = active ? active->modulePath() : std::string();
  throw Error(formatLocation(location) + text + (inside.empty() ? "" : " (in '" + inside + "')"));
}

void ApiCall::numbersLike(std::initializer_list<const Operand *> operands) {
  for (const Operand *operand : operands) {
    if (operand->kind == Operand::Kind::Tensor)
      numberType =
          cast<RankedTensorType>(State::valueOf(operand->tensor).getType()).getElementType();
    else if (operand->kind == Operand::Kind::Parameter)
      numberType = elementTypeOf(operand->parameter->dtype(), context());
    else
      continue;
    return;
  }
  numberType = {};
  for (const Operand *operand : operands)
    if (operand->kind == Operand::Kind::Real)
      numberType = builder().getF32Type();
  if (!numberType)
    numberType = builder().getI64Type();
}

Value ApiCall::value(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::None:
    fail("an operand is a Tensor without a value; assign it first");
  case Operand::Kind::Tensor: {
    Value value = State::valueOf(operand.tensor);
    if (!llvm::is_contained(active->blocks, value.getParentBlock()))
      fail("an operand was created inside a branch or loop that has ended; return it from the "
           "branch or loop and use the result");
    return value;
  }
  case Operand::Kind::Parameter:
    return active->parameter(*operand.parameter);
  case Operand::Kind::Integer:
  case Operand::Kind::Real:
    break;
  }
  if (!numberType)
    numberType = operand.kind == Operand::Kind::Real ? Type(builder().getF32Type())
                                                     : Type(builder().getI64Type());
  return operand.kind == Operand::Kind::Real ? number(numberType, operand.real)
                                             : integerNumber(numberType, operand.integer);
}

SmallVector<Value> ApiCall::values(std::initializer_list<const Operand *> operands) {
  SmallVector<Value> result;
  for (const Operand *operand : operands)
    if (*operand)
      result.push_back(value(*operand));
  return result;
}

Value ApiCall::number(Type element, double value) {
  if (!isa<FloatType>(element)) {
    if (value != std::trunc(value) || std::abs(value) > 0x1p62)
      fail("the number ", llvm::format("%g", value), " cannot be represented in the element type ",
           dtypeName(dtypeOf(element)),
           " of the other operand; cast that tensor to a floating-point type first");
    return integerNumber(element, int64_t(value));
  }
  auto type = cast<RankedTensorType>(active->placed(RankedTensorType::get({}, element)));
  return ConstantOp::create(builder(), loc(), type,
                            DenseElementsAttr::get(type, FloatAttr::get(element, value)))
      .getResult();
}

Value ApiCall::integerNumber(Type element, int64_t value) {
  if (isa<FloatType>(element))
    return number(element, double(value));
  auto integer = cast<IntegerType>(element);
  unsigned width = integer.getWidth();
  bool fits = width == 1             ? value == 0 || value == 1
              : integer.isUnsigned() ? value >= 0 && (width == 64 || value < int64_t(1) << width)
              : width == 64
                  ? true
                  : value >= -(int64_t(1) << (width - 1)) && value < int64_t(1) << (width - 1);
  if (!fits)
    fail("the number ", value, " cannot be represented in the element type ",
         dtypeName(dtypeOf(element)),
         " of the other operand; cast that tensor to a wider type first");
  auto type = cast<RankedTensorType>(active->placed(RankedTensorType::get({}, element)));
  return ConstantOp::create(
             builder(), loc(), type,
             DenseElementsAttr::get(type, APInt(width, uint64_t(value), false, true)))
      .getResult();
}

int64_t ApiCall::dimension(int64_t dim, int64_t rank) const {
  if (dim < -rank || dim >= rank)
    fail("a dimension must be from -", rank, " to ", rank - 1, " for a tensor of rank ", rank,
         "; found ", dim);
  return dim < 0 ? dim + rank : dim;
}

SmallVector<int64_t> ApiCall::dimensions(const Dims &dims, int64_t rank) const {
  SmallVector<int64_t> result;
  if (dims.empty())
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(i);
  for (int64_t dim : dims)
    result.push_back(dimension(dim, rank));
  llvm::sort(result);
  for (size_t i = 1; i < result.size(); ++i)
    if (result[i] == result[i - 1])
      fail("dimensions must be distinct; found ", result[i], " twice");
  return result;
}

std::vector<int64_t> ApiCall::spread(const char *name, const Dims &dims, size_t count) const {
  if (dims.size() == 1)
    return std::vector<int64_t>(count, dims[0]);
  if (dims.size() != count)
    fail("`", name, "` must have one entry, or one for each of the ", count,
         " spatial dimensions; found ", dims.size());
  return dims;
}

void ApiCall::requireStatic(RankedTensorType type, const char *why) const {
  if (!type.hasStaticShape())
    fail("all sizes must be known ", why, "; found ", type,
         "; give the traced inputs static shapes");
}

SmallVector<Value> ApiCall::checked(Operation *op, DiagnosticCapture &capture) {
  if (!active->precisions.empty())
    op->setAttr(kPrecisionAttr, builder().getStringAttr(active->precisions.back()));
  if (succeeded(op->getName().verifyInvariants(op)))
    return SmallVector<Value>(op->getResults());
  std::string text = capture.text;
  op->erase();
  raise(text);
}

} // namespace dlc::trace

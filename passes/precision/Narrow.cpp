//===- Narrow.cpp - converts matmuls and convolutions to 16-bit types -----===//
#include "passes/precision/Narrow.h"
#include "ir/dlc/Shape.h"

using namespace mlir;

namespace dlc::precision {

static Value castTo(OpBuilder &builder, Value value, Type element) {
  return TensorBuilder(builder, value.getLoc()).cast(value, element);
}

/// Returns whether the splat constant has the same value in the 16-bit type. Overflow to infinity
/// is accepted.
static bool isSplatExactInType(Value constant, FloatType type) {
  std::optional<double> number = splatValue(constant);
  if (!number)
    return false;
  APFloat narrow(*number);
  bool loses = false;
  narrow.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return !loses || !narrow.isFinite();
}

FloatType PrecisionNarrowing::narrowTypeOf(Value value) const {
  FloatType type = converted.lookup(value);
  return type ? type : kept.lookup(value);
}

Value PrecisionNarrowing::narrow(Value value, FloatType type, Operation *user) {
  if (converted.lookup(value) == type)
    return value;
  Value &form = casts[{value, type}];
  if (form)
    return form;
  OpBuilder builder(user);
  if (Operation *def = value.getDefiningOp())
    builder.setInsertionPointAfter(def);
  else
    builder.setInsertionPoint(value.getParentBlock()->findAncestorOpInBlock(*user));
  return form = castTo(builder, value, type);
}

void PrecisionNarrowing::widen(OpOperand &operand) {
  Value value = operand.get();
  FloatType type = narrowTypeOf(value);
  if (!type)
    return;
  if (Value sum = sums.lookup(value)) {
    operand.set(sum);
    return;
  }
  OpBuilder builder(operand.getOwner());
  Value form = narrow(value, type, operand.getOwner());
  operand.set(castTo(builder, form, builder.getF32Type()));
}

void PrecisionNarrowing::convert(Value result, FloatType type) {
  result.setType(withElement(cast<RankedTensorType>(result.getType()), type));
  converted[result] = type;
}

void PrecisionNarrowing::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op);
}

void PrecisionNarrowing::visit(Operation *op) {
  NumericClass numeric = request.classOf(op);
  if (numeric == NumericClass::Product && request.typeOf(op))
    return visitProduct(op, request.typeOf(op));
  if ((numeric == NumericClass::Layer && visitLayer(op)) ||
      (numeric == NumericClass::Exact && visitExact(op)))
    return;
  visitWide(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      run(block);
}

void PrecisionNarrowing::visitProduct(Operation *op, FloatType type) {
  for (OpOperand &operand : op->getOpOperands())
    if (mustStayInF32(operand))
      widen(operand);
    else if (isF32Tensor(operand.get()) || narrowTypeOf(operand.get()))
      operand.set(narrow(operand.get(), type, op));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    if (!isF32Tensor(result) || mustStayInF32(result))
      continue;
    convert(result, type);
    if (!demand.isStored(result) && !result.use_empty())
      sums[result] = castTo(builder, result, builder.getF32Type());
  }
}

bool PrecisionNarrowing::visitLayer(Operation *op) {
  SmallVector<OpOperand *> data = dataOperands(op);
  FloatType type = narrowTypeOf(data.front()->get());
  if (!type || !isF32Tensor(op->getResult(0)))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (llvm::is_contained(data, &operand))
      operand.set(narrow(operand.get(), type, op));
    else
      widen(operand);
  }
  convert(op->getResult(0), type);
  return true;
}

/// Returns whether reading the operand in the 16-bit type adds no rounding that the operation would
/// not have otherwise.
bool PrecisionNarrowing::mayJoin(OpOperand &operand, FloatType type) const {
  Value value = operand.get();
  if (FloatType own = narrowTypeOf(value))
    return own == type && !sums.contains(value);
  return !isF32Tensor(value) || isSplatExactInType(value, type);
}

bool PrecisionNarrowing::visitExact(Operation *op) {
  FloatType type;
  for (Value operand : op->getOperands())
    if (FloatType own = narrowTypeOf(operand); own && !type)
      type = own;
  Value first = op->getOperand(0);
  if (!type && isViewLike(op) && demand.of(op->getResult(0)) && isF32Tensor(first) &&
      (isa<BlockArgument>(first) || first.getDefiningOp<ConstantOp>())) {
    // If matmuls read the result of a view of a parameter or constant in 16 bits, the operand is
    // cast before the view.
    type = demand.of(op->getResult(0));
    op->setOperand(0, narrow(first, type, op));
  } else if (!type || !llvm::all_of(op->getOpOperands(),
                                    [&](OpOperand &operand) { return mayJoin(operand, type); })) {
    return false;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (isF32Tensor(operand.get()) || narrowTypeOf(operand.get()))
      operand.set(narrow(operand.get(), type, op));
  for (Value result : op->getResults())
    if (isF32Tensor(result))
      convert(result, type);
  return true;
}

void PrecisionNarrowing::visitWide(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    widen(operand);
  NumericClass numeric = request.classOf(op);
  if (numeric == NumericClass::Full || op->getNumResults() == 0)
    return;
  Value result = op->getResult(0);
  llvm::SmallPtrSet<Operation *, 4> users(result.user_begin(), result.user_end());
  if (!demand.isStored(result) || users.size() < 2)
    return;
  FloatType type = demand.of(result);
  narrow(result, type, op);
  kept[result] = type;
}

} // namespace dlc::precision

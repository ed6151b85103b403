//===- Demand.cpp - values that matmuls and convolutions need in 16 bits ----===//
#include "passes/precision/Demand.h"
#include "ir/dlc/Shape.h"

using namespace mlir;

namespace dlc::precision {

bool isF32Tensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

FloatType PrecisionRequest::typeOf(Operation *op) const {
  FloatType asked = overrides.of(op);
  return asked ? asked : narrow;
}

NumericClass PrecisionRequest::classOf(Operation *op) const {
  FloatType asked = overrides.of(op);
  if (asked && asked.isF32())
    return NumericClass::Full;
  NumericClass numeric = precision::classOf(op);
  // A 16-bit type that is set by name also applies to operations that otherwise stay in f32
  // (numeric class Full), if all of their results are f32.
  if (asked && numeric == NumericClass::Full && op->getNumRegions() == 0 &&
      llvm::all_of(op->getResults(), isF32Tensor))
    return NumericClass::Product;
  return numeric;
}

PrecisionDemand::PrecisionDemand(Operation *root, const PrecisionRequest &request)
    : request(request) {
  for (Region &region : root->getRegions())
    for (Block &block : region)
      visit(block);
}

void PrecisionDemand::visit(Block &block) {
  // Operations are visited in reverse order, so that the demand of all users is known before their
  // operands are visited.
  for (Operation &op : llvm::reverse(block)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visit(inner);
    for (Value result : op.getResults())
      decide(result);
  }
  for (Value argument : block.getArguments())
    decide(argument);
}

void PrecisionDemand::decide(Value value) {
  if (!isF32Tensor(value))
    return;
  for (OpOperand &use : value.getUses())
    if (FloatType type = wantedBy(use)) {
      wanted[value] = type;
      return;
    }
}

/// Returns whether the operand has the shape of the result, so that no element is broadcast. The
/// user must be of class Exact or Smooth (elementwise and similar operations).
static bool isNotBroadcast(OpOperand &use, Value result) {
  auto from = cast<RankedTensorType>(use.get().getType());
  auto to = cast<RankedTensorType>(result.getType());
  if (isa<PadOp>(use.getOwner()))
    return use.getOperandNumber() == 0;
  bool stretches = use.getOwner()->hasTrait<Elementwise>() || isa<BroadcastOp>(use.getOwner());
  return !stretches || TensorShape(from) == TensorShape(to);
}

FloatType PrecisionDemand::wantedBy(OpOperand &use) const {
  Operation *user = use.getOwner();
  switch (request.classOf(user)) {
  case NumericClass::Full:
    return {};
  case NumericClass::Product:
    return mustStayInF32(use) ? FloatType() : request.typeOf(user);
  case NumericClass::Layer:
    return llvm::is_contained(dataOperands(user), &use) ? of(user->getResult(0)) : FloatType();
  case NumericClass::Exact:
  case NumericClass::Smooth:
    break;
  }
  Value result = user->getResult(0);
  return of(result) && isNotBroadcast(use, result) ? of(result) : FloatType();
}

bool PrecisionDemand::isStored(Value value) const {
  return of(value) && llvm::none_of(value.getUsers(), [](Operation *user) {
           return user->hasTrait<OpTrait::IsTerminator>();
         });
}

} // namespace dlc::precision

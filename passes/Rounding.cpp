//===- Rounding.cpp - where kernels round values to 16 bits ---------------===//
#include "passes/Rounding.h"

#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc {

bool isSixteenBitFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

static bool onlyMovesElements(Operation *op) {
  return op->hasTrait<ElementMove>() || op->hasTrait<View>();
}

bool commutesWithRounding(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::max || reduce.getKind() == ReduceKind::min;
  if (onlyMovesElements(op) || isa<MaxPoolOp>(op))
    return true;
  auto facts = dyn_cast<FactsInterface>(op);
  return facts && facts.getNumericClass() == NumericClass::Exact && op->hasTrait<Elementwise>() &&
         !op->hasTrait<NoGradient>();
}

/// Returns whether a terminator reads the value, perhaps through operations that only move its
/// elements. The kernel then stores the value.
static bool isStoredByKernel(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (onlyMovesElements(user) && isStoredByKernel(user->getResult(0)));
  });
}

bool hasExcessPrecision(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasAttr(kExcessPrecisionAttr) && isSixteenBitFloat(value.getType()) &&
         !isStoredByKernel(value);
}

bool isRoundedTo16Bits(Value value) {
  return isSixteenBitFloat(value.getType()) && !hasExcessPrecision(value);
}

/// Returns whether each path from the value leads through exact operations to a store of the
/// value's type, so that the stores round it.
static bool isRoundedByStores(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    return commutesWithRounding(user) && user->getNumResults() == 1 &&
           getElementTypeOrSelf(user->getResult(0).getType()) ==
               getElementTypeOrSelf(value.getType()) &&
           isRoundedByStores(user->getResult(0));
  });
}

/// Returns whether the result is representable in its type if the operands are representable in
/// theirs, so that the result needs no rounding.
static bool preservesRepresentability(Operation *op) {
  return commutesWithRounding(op) || op->hasTrait<IntegralResult>();
}

bool needsRounding(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRoundedTo16Bits(value) || isa<ConstantOp>(op) || isRoundedByStores(value))
    return false;
  return !preservesRepresentability(op) || llvm::any_of(op->getOperands(), hasExcessPrecision);
}

} // namespace dlc

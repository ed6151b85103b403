//===- Elementwise.cpp - inference and folding of elementwise operations --===//
#include "ir/dlc/Infer.h"
#include "ir/dlc/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Elementwise.cpp.inc"

void DlcDialect::registerElementwise() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Elementwise.cpp.inc"
      >();
}

namespace {
Type boolType(MLIRContext *context) { return IntegerType::get(context, 1); }

/// Infers a result type with the shape and encoding of x and the given element type.
LogicalResult inferWithElementType(Value x, Type element, Types &types) {
  RankedTensorType type = tensorType(x);
  types.push_back(RankedTensorType::get(type.getShape(), element, type.getEncoding()));
  return success();
}

/// Returns whether a cast from `from` to `to` is lossless, so that casting back returns the same
/// value.
bool isLosslessCast(Type from, Type to) {
  if (from == to)
    return true;
  if (auto a = dyn_cast<FloatType>(from)) {
    auto b = dyn_cast<FloatType>(to);
    return b && a.getFPMantissaWidth() <= b.getFPMantissaWidth() &&
           llvm::APFloat::semanticsMaxExponent(a.getFloatSemantics()) <=
               llvm::APFloat::semanticsMaxExponent(b.getFloatSemantics());
  }
  auto a = cast<IntegerType>(from);
  // Integer to float is excluded, because the cast back to integer saturates, while integer casts
  // wrap.
  auto b = dyn_cast<IntegerType>(to);
  if (!b || b.isInteger(1))
    return false;
  bool unsignedFrom = a.isUnsigned() || a.isInteger(1);
  if (unsignedFrom)
    return b.isUnsigned() ? b.getWidth() >= a.getWidth() : b.getWidth() > a.getWidth();
  return !b.isUnsigned() && b.getWidth() >= a.getWidth();
}

/// Returns the operand if its type equals the type of the result, so that it can replace the
/// result.
OpFoldResult foldIfSameType(Value operand, Value result) {
  return operand.getType() == result.getType() ? OpFoldResult(operand) : OpFoldResult();
}
} // namespace

LogicalResult GeluOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  return inferUnary({location, getOperationName()}, adaptor.getX(), types);
}

LogicalResult IsNanOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                        Adaptor adaptor, Types &types) {
  return inferWithElementType(adaptor.getX(), boolType(context), types);
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                        Adaptor adaptor, Types &types) {
  return inferWithElementType(adaptor.getX(), boolType(context), types);
}

LogicalResult CastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  return inferWithElementType(adaptor.getX(), adaptor.getTo(), types);
}

LogicalResult LookupOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  auto isByte = [](Type type) { return type.isInteger(8); };
  Type element = tensorType(adaptor.getX()).getElementType();
  if (!isByte(element))
    return site.fail("C1: 'x' must have 8 bits, found ", element, "; cast it to ui8");
  ShapedType table = adaptor.getTable().getShapedType();
  if (table.getRank() != 1 || table.getDimSize(0) != 256 || !isByte(table.getElementType()))
    return site.fail("C2: the table must be 256 integers of 8 bits, found ", table);
  return inferWithElementType(adaptor.getX(), table.getElementType(), types);
}

LogicalResult PowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  NamedOperand operands[] = {{"a", adaptor.getA()}, {"b", adaptor.getB()}};
  return inferBroadcast({location, getOperationName()}, operands, types);
}

LogicalResult RemOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  return inferBinary({location, getOperationName()}, adaptor.getA(), adaptor.getB(), types);
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand operands[] = {{"a", adaptor.getA()}, {"b", adaptor.getB()}};
  if (failed(sameElementType(site, "C1", operands)))
    return failure();
  return inferBroadcast(site, operands, types, boolType(context));
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand operands[] = {
      {"condition", adaptor.getCondition()}, {"a", adaptor.getA()}, {"b", adaptor.getB()}};
  if (failed(sameElementType(site, "C1", ArrayRef(operands).drop_front())))
    return failure();
  return inferBroadcast(site, operands, types, operands[1].type().getElementType());
}

//===----------------------------------------------------------------------===//
// Folding: identities that hold for every value, including -0.0 and NaN
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor) {
  // For floats, x + 0.0 does not fold to x, because -0.0 + 0.0 is 0.0. The neutral element is -0.0.
  auto neutral = [](Value value) {
    double number;
    return isSplat(value, number) && number == 0 &&
           (std::signbit(number) || isa<IntegerType>(tensorType(value).getElementType()));
  };
  if (neutral(getB()))
    return foldIfSameType(getA(), getResult());
  return neutral(getA()) ? foldIfSameType(getB(), getResult()) : OpFoldResult();
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  double number;
  if (isSplat(getB(), number) && number == 0 && !std::signbit(number))
    return foldIfSameType(getA(), getResult());
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isOne(getB()))
    return foldIfSameType(getA(), getResult());
  return isOne(getA()) ? foldIfSameType(getB(), getResult()) : OpFoldResult();
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  return isOne(getB()) ? foldIfSameType(getA(), getResult()) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<CastOp>();
  if (!inner || !isLosslessCast(inner.getX().getType().getElementType(), inner.getTo()))
    return {};
  setOperand(inner.getX());
  return getResult();
}

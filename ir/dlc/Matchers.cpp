//===- Matchers.cpp - matchers for constants whose elements are all equal ---===//
#include "ir/dlc/Matchers.h"

#include "ir/dlc/Dialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace {
double toDouble(APFloat value) {
  bool lost = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

double toDouble(const APInt &value, Type type) {
  if (type.isInteger(1) || type.isUnsignedInteger())
    return double(value.getZExtValue());
  return double(value.getSExtValue());
}

/// Reads the only element of a resource blob as a double. Returns false if the blob does not have
/// exactly one element.
bool readBlob(DenseResourceElementsAttr attr, double &number) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  Type type = attr.getElementType();
  unsigned bits = type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  if (attr.getNumElements() != 1 || !blob || blob->getData().size() != bits / 8)
    return false;
  uint64_t raw = 0;
  memcpy(&raw, blob->getData().data(), bits / 8);
  APInt value(bits, raw);
  auto floating = dyn_cast<FloatType>(type);
  number =
      floating ? toDouble(APFloat(floating.getFloatSemantics(), value)) : toDouble(value, type);
  return true;
}
} // namespace

bool dlc::isSplat(Attribute value, double &number) {
  if (auto blob = dyn_cast_or_null<DenseResourceElementsAttr>(value))
    return readBlob(blob, number);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    number = toDouble(dense.getSplatValue<APFloat>());
  else if (isa<IntegerType>(dense.getElementType()))
    number = toDouble(dense.getSplatValue<APInt>(), dense.getElementType());
  else
    return false;
  return true;
}

bool dlc::isSplat(Value value, double &number) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return isSplat(constant.getValue(), number);
    if (!op->hasTrait<ViewLike>() && !isa<ReorderOp, TransferOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

bool dlc::isZero(Value value) {
  double number;
  return isSplat(value, number) && number == 0;
}

bool dlc::isOne(Value value) {
  double number;
  return isSplat(value, number) && number == 1;
}

//===- Quantize.cpp - inference and index maps of quantization operations ---===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Quantize.cpp.inc"

void DlcDialect::registerQuantize() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Quantize.cpp.inc"
      >();
}

namespace {
/// Checks constraints C1 to C3 of quantize and dequantize: shapes of scale and zero point, `axis`
/// and `block_size`, and one device.
template <typename Adaptor>
LogicalResult checkQuantization(const InferenceSite &site, Adaptor adaptor,
                                FailureOr<OnAttr> &device) {
  NamedOperand x{"x", adaptor.getX()}, scale{"scale", adaptor.getScale()},
      zero{"zero_point", adaptor.getZeroPoint()};
  std::optional<uint64_t> axis = adaptor.getAxis(), block = adaptor.getBlockSize();
  if (axis && failed(checkAxis(site, "C2", int64_t(*axis), x)))
    return failure();
  if (block && (int64_t(*block) < 1 || !axis))
    return site.fail("C2: `block_size` must be 1 or more and have an `axis`; found ",
                     int64_t(*block), axis ? "" : " without one", "; fix the attribute");
  Shape wanted(x.type().getShape());
  if (block && !ShapedType::isDynamic(wanted[*axis]))
    wanted[*axis] = llvm::divideCeil(uint64_t(wanted[*axis]), *block);
  for (const NamedOperand &each : {scale, zero})
    if (each.value && each.type().getRank() != 0 &&
        (each.type().getRank() != x.type().getRank() ||
         !broadcastsTo(each.type().getShape(), wanted)))
      return site.fail("C1: '", each.name, "' must have rank 0 or broadcast to ", shapeText(wanted),
                       "; found ", shapeText(each.type().getShape()), "; reshape it");
  device = commonDevice(site, "C3", {x, scale, zero});
  return device;
}

/// Adds to `map` the accesses to x, the scale and the zero point of the result element.
template <typename Op> void mapQuantization(Op op, IndexMap &map) {
  map.read(0, Coordinates(map.at));
  Coordinates block(map.at);
  if (auto size = op.getBlockSize())
    block[*op.getAxis()] = map.x.divide(block[*op.getAxis()], int64_t(*size));
  for (unsigned operand = 1; operand < op->getNumOperands(); ++operand)
    map.read(operand, broadcastIndex(tensorType(op->getOperand(operand)).getShape(),
                                     ArrayRef<IndexExpr>(block), IndexExpr()));
}
} // namespace

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  FailureOr<OnAttr> device;
  if (failed(checkQuantization(site, adaptor, device)))
    return failure();
  auto integer = dyn_cast<IntegerType>(adaptor.getTo());
  if (!integer || integer.getWidth() < 4 || integer.getWidth() > 32)
    return site.fail("C4: `to` must be an integer type of 4 to 32 bits; found ", adaptor.getTo(),
                     "; choose i8 or ui8");
  auto [least, most] = integerRange(integer);
  auto low = int64_t(adaptor.getLow().value_or(uint64_t(least))),
       high = int64_t(adaptor.getHigh().value_or(uint64_t(most)));
  if (low < least || high > most || low > high)
    return site.fail("C4: `low` and `high` must be ascending values of ", integer, ", from ", least,
                     " to ", most, "; found ", low, " and ", high, "; fix the attributes");
  if (Value zero = adaptor.getZeroPoint()) {
    Type element = tensorType(zero).getElementType();
    if (isa<IntegerType>(element) && element != integer && !element.isInteger(32))
      return site.fail("C5: 'zero_point' must have the element type ", integer, ", or i32; found ",
                       element, "; cast it");
  }
  RankedTensorType x = tensorType(adaptor.getX());
  return addResult(site, types, x.getShape(), integer, *device);
}

void QuantizeOp::mapIndices(IndexMap &map) { mapQuantization(*this, map); }

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  FailureOr<OnAttr> device;
  if (failed(checkQuantization(site, adaptor, device)))
    return failure();
  RankedTensorType x = tensorType(adaptor.getX());
  Type result = tensorType(adaptor.getScale()).getElementType();
  if (Value zero = adaptor.getZeroPoint()) {
    Type element = tensorType(zero).getElementType();
    if (element != x.getElementType() && !element.isInteger(32) && element != result)
      return site.fail("C4: 'zero_point' must have the element type of 'x', ", x.getElementType(),
                       ", i32, or that of the scale, ", result, "; found ", element, "; cast it");
  }
  return addResult(site, types, x.getShape(), result, *device);
}

void DequantizeOp::mapIndices(IndexMap &map) { mapQuantization(*this, map); }

LogicalResult DynamicQuantizeOp::inferReturnTypes(MLIRContext *context,
                                                  std::optional<Location> location, Adaptor adaptor,
                                                  Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  FailureOr<OnAttr> device = commonDevice(site, "C1", {x});
  if (failed(device))
    return failure();
  Shape each;
  if (auto axes = adaptor.getAxes()) {
    each = Shape(x.type().getShape());
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      if (failed(checkAxis(site, "C1", axis, x)))
        return failure();
      if (i > 0 && (*axes)[i - 1] >= axis)
        return site.fail("C1: `axes` must be ascending; found ", shapeText(*axes), "; sort them");
      each[axis] = 1;
    }
  }
  Type u8 = IntegerType::get(context, 8, IntegerType::Unsigned);
  return failure(failed(addResult(site, types, x.type().getShape(), u8, *device)) ||
                 failed(addResult(site, types, each, x.type().getElementType(), *device)) ||
                 failed(addResult(site, types, each, u8, *device)));
}

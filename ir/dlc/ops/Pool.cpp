//===- Pool.cpp - inference and index maps of pooling operations ----------===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Pool.cpp.inc"

void DlcDialect::registerPool() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Pool.cpp.inc"
      >();
}

namespace {
/// Checks constraints C1 to C3 of a pool (rank, attribute sizes, window sizes) and computes the
/// shape of its result.
template <typename Adaptor>
LogicalResult inferPooledShape(const InferenceSite &site, Adaptor adaptor, Shape &shape) {
  RankedTensorType x = tensorType(adaptor.getX());
  if (x.getRank() < 3)
    return site.fail("C1: 'x' must be [N, C, spatial..] with at least 1 spatial dimension; found ",
                     shapeText(x.getShape()), "; reshape it");
  size_t spatial = x.getRank() - 2;
  if (failed(checkEntries(site, "C2", "window", adaptor.getWindow(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "strides", adaptor.getStrides(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "dilations", adaptor.getDilations(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "low", adaptor.getLow(), spatial)) ||
      failed(checkEntries(site, "C2", "high", adaptor.getHigh(), spatial)))
    return failure();
  shape.assign({x.getDimSize(0), x.getDimSize(1)});
  for (size_t i = 0; i < spatial; ++i) {
    FailureOr<int64_t> dim =
        windowedDim(site, "C3", i,
                    {x.getDimSize(i + 2), adaptor.getWindow()[i], adaptor.getStrides()[i],
                     adaptor.getDilations()[i], adaptor.getLow()[i], adaptor.getHigh()[i]});
    if (failed(dim))
      return failure();
    shape.push_back(*dim);
  }
  return success();
}

/// Checks constraints C1 to C3 of a pool's gradient (rank, attribute sizes, shape of dy) and
/// appends its result type.
template <typename Adaptor>
LogicalResult inferPoolGrad(const InferenceSite &site, Adaptor adaptor, Types &types) {
  NamedOperand dy{"dy", adaptor.getDy()};
  ArrayRef<int64_t> found = dy.type().getShape();
  if (found.size() < 3)
    return site.fail("C1: 'dy' must be [N, C, spatial..] with at least 1 spatial dimension; found ",
                     shapeText(found), "; reshape it");
  const size_t spatial = found.size() - 2;
  if (failed(checkEntries(site, "C2", "spatial", adaptor.getSpatial(), spatial, 0)) ||
      failed(checkEntries(site, "C2", "window", adaptor.getWindow(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "strides", adaptor.getStrides(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "dilations", adaptor.getDilations(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "low", adaptor.getLow(), spatial)) ||
      failed(checkEntries(site, "C2", "high", adaptor.getHigh(), spatial)))
    return failure();
  Shape forward(found.take_front(2)), shape(forward);
  for (size_t i = 0; i < spatial; ++i) {
    FailureOr<int64_t> dim =
        windowedDim(site, "C3", i,
                    {adaptor.getSpatial()[i], adaptor.getWindow()[i], adaptor.getStrides()[i],
                     adaptor.getDilations()[i], adaptor.getLow()[i], adaptor.getHigh()[i]});
    if (failed(dim))
      return failure();
    forward.push_back(*dim);
    shape.push_back(adaptor.getSpatial()[i]);
  }
  if (failed(checkShape(site, "C3", dy, forward, "what the forward operation gives")))
    return failure();
  return addResult(site, types, shape, dy.type().getElementType(), *commonDevice(site, "", dy));
}

Type getPositionType(MLIRContext *context) {
  return IntegerType::get(context, 8, IntegerType::Unsigned);
}
} // namespace

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  Shape shape;
  if (failed(inferPooledShape(site, adaptor, shape)))
    return failure();
  return addResult(site, types, shape, x.type().getElementType(), *commonDevice(site, "", x));
}

LogicalResult MaxPoolIndicesOp::inferReturnTypes(MLIRContext *context,
                                                 std::optional<Location> location, Adaptor adaptor,
                                                 Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  Shape shape;
  if (failed(inferPooledShape(site, adaptor, shape)))
    return failure();
  OnAttr device = *commonDevice(site, "", x);
  if (failed(addResult(site, types, shape, x.type().getElementType(), device)))
    return failure();
  return addResult(site, types, shape, IntegerType::get(context, 64), device);
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  Shape shape;
  if (failed(inferPooledShape(site, adaptor, shape)) ||
      failed(checkEntries(site, "C2", "counted_high", adaptor.getCountedHigh(), shape.size() - 2)))
    return failure();
  return addResult(site, types, shape, x.type().getElementType(), *commonDevice(site, "", x));
}

LogicalResult MaxPoolPositionsOp::inferReturnTypes(MLIRContext *context,
                                                   std::optional<Location> location,
                                                   Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  Shape shape;
  if (failed(inferPooledShape(site, adaptor, shape)))
    return failure();
  std::optional<int64_t> places = countElements(adaptor.getWindow());
  if (!places || *places > 256)
    return site.fail("C4: the window must have at most 256 elements, because positions are stored "
                     "in bytes; found ",
                     shapeText(adaptor.getWindow()), "; use dlc.max_pool_indices");
  OnAttr device = *commonDevice(site, "", x);
  if (failed(addResult(site, types, shape, x.type().getElementType(), device)))
    return failure();
  return addResult(site, types, shape, getPositionType(context), device);
}

LogicalResult MaxPoolGradOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location, Adaptor adaptor,
                                              Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand dy{"dy", adaptor.getDy()}, position{"position", adaptor.getPosition()};
  if (failed(inferPoolGrad(site, adaptor, types)) ||
      failed(checkShape(site, "C4", position, dy.type().getShape(), "of dy's shape")))
    return failure();
  if (Type found = position.type().getElementType(); found != getPositionType(context))
    return site.fail("C4: 'position' must be ui8; found ", found,
                     "; take it from dlc.max_pool_positions");
  return failed(commonDevice(site, "C5", {dy, position})) ? failure() : success();
}

LogicalResult AvgPoolGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  if (failed(inferPoolGrad(site, adaptor, types)))
    return failure();
  return checkEntries(site, "C2", "counted_high", adaptor.getCountedHigh(),
                      adaptor.getSpatial().size());
}

//===----------------------------------------------------------------------===//
// Index maps: the elements that each result element is reduced from
//===----------------------------------------------------------------------===//

/// Adds to `map` the access to the input element at the current output position and window offset.
template <typename Op> static void mapWindow(Op op, IndexMap &map) {
  OperandRead &read = map.read(0, Coordinates(map.at.take_front(2)));
  SlidingWindow{op.getStrides(), op.getDilations(), op.getLow()}.from(
      map.at.drop_front(2), map.over, op.getX().getType().getShape().drop_front(2), read);
}

/// Adds to `map` the accesses of a pool's gradient: an element of dx reads dy (and the other
/// operands of dy's shape) at the position of each window that contains the element.
template <typename Op> static void mapPoolGradient(Op op, IndexMap &map) {
  OperandRead read{0, Coordinates(map.at.take_front(2)), {}};
  SlidingWindow{op.getStrides(), op.getDilations(), op.getLow()}.back(
      map.at.drop_front(2), map.over, op.getDy().getType().getShape().drop_front(2), map.x, read);
  for (; read.operand < op->getNumOperands(); ++read.operand)
    map.reads.push_back(read);
}

SmallVector<int64_t> MaxPoolOp::foldedExtents() { return SmallVector<int64_t>(getWindow()); }
SmallVector<int64_t> MaxPoolIndicesOp::foldedExtents() { return SmallVector<int64_t>(getWindow()); }
SmallVector<int64_t> MaxPoolPositionsOp::foldedExtents() {
  return SmallVector<int64_t>(getWindow());
}
SmallVector<int64_t> AvgPoolOp::foldedExtents() { return SmallVector<int64_t>(getWindow()); }
SmallVector<int64_t> MaxPoolGradOp::foldedExtents() { return SmallVector<int64_t>(getWindow()); }
SmallVector<int64_t> AvgPoolGradOp::foldedExtents() { return SmallVector<int64_t>(getWindow()); }

void MaxPoolOp::mapIndices(IndexMap &map) { mapWindow(*this, map); }
void MaxPoolIndicesOp::mapIndices(IndexMap &map) { mapWindow(*this, map); }
void MaxPoolPositionsOp::mapIndices(IndexMap &map) { mapWindow(*this, map); }
void AvgPoolOp::mapIndices(IndexMap &map) { mapWindow(*this, map); }
void MaxPoolGradOp::mapIndices(IndexMap &map) { mapPoolGradient(*this, map); }
void AvgPoolGradOp::mapIndices(IndexMap &map) { mapPoolGradient(*this, map); }

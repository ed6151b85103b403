//===- Reduce.cpp - inference of reductions and sorts ---------------------===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Reduce.cpp.inc"

void DlcDialect::registerReduce() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Reduce.cpp.inc"
      >();
}

namespace {
Shape inferReducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepDims) {
  Shape result;
  for (auto [d, dim] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, int64_t(d)))
      result.push_back(dim);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

LogicalResult checkReduceKind(const InferenceSite &site, ReduceKind kind, ReduceKind one,
                              ReduceKind other) {
  if (kind == one || kind == other)
    return success();
  return site.fail("C2: the kind must be ", stringifyReduceKind(one), " or ",
                   stringifyReduceKind(other), "; found ", stringifyReduceKind(kind));
}
} // namespace

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis < 0 || axis >= x.type().getRank() || (i && axis <= axes[i - 1]))
      return site.fail("C1: `axes` must be distinct dimensions of 'x', ascending; found ",
                       shapeText(axes), " for rank ", x.type().getRank(),
                       "; sort them, and count from 0");
  return addResult(site, types, inferReducedShape(x.type().getShape(), axes, adaptor.getKeepdims()),
                   x.type().getElementType(), *commonDevice(site, "", x));
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  if (getAxes().empty() && getX().getType() == getType())
    return getX();
  return {};
}

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(site, "C1", axis, x)) ||
      failed(checkReduceKind(site, adaptor.getKind(), ReduceKind::max, ReduceKind::min)))
    return failure();
  return addResult(site, types, inferReducedShape(x.type().getShape(), axis, adaptor.getKeepdims()),
                   IntegerType::get(context, 64), *commonDevice(site, "", x));
}

LogicalResult CumulativeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  if (failed(checkAxis(site, "C1", adaptor.getAxis(), x)) ||
      failed(checkReduceKind(site, adaptor.getKind(), ReduceKind::sum, ReduceKind::prod)))
    return failure();
  return addResult(site, types, x.type().getShape(), x.type().getElementType(),
                   *commonDevice(site, "", x));
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (failed(checkAxis(site, "C1", axis, x)))
    return failure();
  Shape shape(x.type().getShape());
  if (k < 0 || (!ShapedType::isDynamic(shape[axis]) && k > shape[axis]))
    return site.fail("C2: k must be 0 to the size of the axis; found ", k, " for size ",
                     dimText(shape[axis]), "; take fewer");
  shape[axis] = k;
  OnAttr device = *commonDevice(site, "", x);
  if (failed(addResult(site, types, shape, x.type().getElementType(), device)))
    return failure();
  return addResult(site, types, shape, IntegerType::get(context, 64), device);
}

LogicalResult NmsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand boxes{"boxes", adaptor.getBoxes()}, scores{"scores", adaptor.getScores()},
      candidates{"candidates", adaptor.getCandidates()}, overlap{"overlap", adaptor.getOverlap()};
  ArrayRef<int64_t> rows = scores.type().getShape();
  if (rows.size() != 3)
    return site.fail("C1: 'scores' must be [batch, classes, boxes]; found rank ", rows.size(),
                     "; reshape it");
  if (failed(checkShape(site, "C1", boxes, {rows[0], rows[2], 4}, "four numbers for each score")) ||
      failed(checkShape(site, "C1", candidates, rows, "of the scores' shape")) ||
      failed(sameElementType(site, "C2", {boxes, scores})) ||
      failed(checkShape(site, "C3", overlap, {}, "one number")))
    return failure();
  int64_t k = adaptor.getK();
  if (k < 0 || (!ShapedType::isDynamic(rows[2]) && k > rows[2]))
    return site.fail("C4: k must be 0 to the number of boxes; found ", k, " for ", dimText(rows[2]),
                     "; take fewer");
  FailureOr<OnAttr> device = commonDevice(site, "C5", {boxes, scores, candidates, overlap});
  Type element = IntegerType::get(context, 64);
  if (failed(device) || failed(addResult(site, types, {rows[0], rows[1], k}, element, *device)))
    return failure();
  return addResult(site, types, {rows[0], rows[1]}, element, *device);
}

SmallVector<int64_t> ReduceOp::foldedExtents() {
  return llvm::map_to_vector(getAxes(), [&](int64_t d) { return getX().getType().getDimSize(d); });
}

void ReduceOp::mapIndices(IndexMap &map) {
  Coordinates from(map.at);
  for (auto [axis, term] : llvm::zip(getAxes(), map.over)) {
    if (!getKeepdims())
      from.insert(from.begin() + axis, IndexExpr());
    from[axis] = term;
  }
  map.read(0, from);
}

SmallVector<int64_t> ArgReduceOp::foldedExtents() {
  return {getX().getType().getDimSize(getAxis())};
}

void ArgReduceOp::mapIndices(IndexMap &map) {
  Coordinates from(map.at);
  if (!getKeepdims())
    from.insert(from.begin() + getAxis(), IndexExpr());
  from[getAxis()] = map.over[0];
  map.read(0, from);
}

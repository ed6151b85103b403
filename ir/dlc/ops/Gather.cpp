//===- Gather.cpp - inference of gathers and scatters ---------------------===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Gather.cpp.inc"

void DlcDialect::registerGather() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Gather.cpp.inc"
      >();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, indices{"indices", adaptor.getIndices()};
  int64_t axis = adaptor.getAxis();
  FailureOr<OnAttr> device;
  if (failed(checkAxis(site, "C1", axis, x)) ||
      failed(device = commonDevice(site, "C2", {x, indices})))
    return failure();
  ArrayRef<int64_t> dims = x.type().getShape();
  if (ref::isPackedElement(x.type().getElementType()) && axis + 1 == x.type().getRank())
    return site.fail("C3: 4-bit integers are gathered by whole rows; required: an axis before the "
                     "last; found ",
                     axis, "; cast 'x' to 8 bits");
  Shape shape(dims.take_front(axis));
  llvm::append_range(shape, indices.type().getShape());
  llvm::append_range(shape, dims.drop_front(axis + 1));
  return addResult(site, types, shape, x.type().getElementType(), *device);
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, indices{"indices", adaptor.getIndices()};
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(site, "C1", axis, x)))
    return failure();
  ArrayRef<int64_t> dims = x.type().getShape(), taken = indices.type().getShape();
  if (dims.size() != taken.size())
    return site.fail("C1: both ranks must agree; 'x' has rank ", dims.size(), ", 'indices' rank ",
                     taken.size(), "; reshape one");
  for (size_t d = 0; d < dims.size(); ++d)
    if (int64_t(d) != axis && !ShapedType::isDynamic(dims[d]) && !ShapedType::isDynamic(taken[d]) &&
        taken[d] > dims[d])
      return site.fail("C2: except along the axis, no dimension of 'indices' may be larger than "
                       "that of 'x'; dimension ",
                       d, " is ", taken[d], " against ", dims[d], "; correct the shape");
  FailureOr<OnAttr> device = commonDevice(site, "C3", {x, indices});
  if (failed(device))
    return failure();
  return addResult(site, types, taken, x.type().getElementType(), *device);
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, indices{"indices", adaptor.getIndices()};
  ArrayRef<int64_t> dims = x.type().getShape(), taken = indices.type().getShape();
  int64_t batch = adaptor.getBatchDims();
  if (taken.empty())
    return site.fail(
        "C2: 'indices' must have a last dimension for the tuples; found rank 0; reshape it");
  if (batch < 0 || batch >= int64_t(taken.size()) || batch > int64_t(dims.size()))
    return site.fail("C1: `batch_dims` must be at most the rank of 'x' and less than the rank of "
                     "'indices'; found ",
                     batch, " for ranks ", dims.size(), " and ", taken.size(), "; correct it");
  for (int64_t d = 0; d < batch; ++d)
    if (!areDimsCompatible(dims[d], taken[d]))
      return site.fail("C1: the first `batch_dims` dimensions must agree; dimension ", d, " is ",
                       dims[d], " in 'x' and ", taken[d],
                       " in 'indices'; correct one of the shapes");
  int64_t tuple = taken.back(), most = int64_t(dims.size()) - batch;
  if (ShapedType::isDynamic(tuple) || tuple > most)
    return site.fail("C2: the tuple must have a static length of at most ", most, "; found ",
                     dimText(tuple), "; correct the last dimension of 'indices'");
  FailureOr<OnAttr> device = commonDevice(site, "C3", {x, indices});
  if (failed(device))
    return failure();
  Shape shape(taken.drop_back());
  llvm::append_range(shape, dims.drop_front(batch + tuple));
  return addResult(site, types, shape, x.type().getElementType(), *device);
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, indices{"indices", adaptor.getIndices()},
      updates{"updates", adaptor.getUpdates()};
  if (failed(checkAxis(site, "C1", adaptor.getAxis(), x)))
    return failure();
  for (const NamedOperand &other : {indices, updates})
    if (other.type().getRank() != x.type().getRank())
      return site.fail("C1: all ranks must agree; 'x' has rank ", x.type().getRank(), ", '",
                       other.name, "' rank ", other.type().getRank(), "; reshape one");
  if (failed(checkShape(site, "C2", updates, indices.type().getShape(), "of the indices' shape")) ||
      failed(sameElementType(site, "C2", {x, updates})))
    return failure();
  FailureOr<OnAttr> device = commonDevice(site, "C3", {x, indices, updates});
  if (failed(device))
    return failure();
  return addResult(site, types, x.type().getShape(), x.type().getElementType(), *device);
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, indices{"indices", adaptor.getIndices()},
      updates{"updates", adaptor.getUpdates()};
  ArrayRef<int64_t> dims = x.type().getShape(), taken = indices.type().getShape();
  int64_t tuple = taken.empty() ? ShapedType::kDynamic : taken.back();
  if (ShapedType::isDynamic(tuple) || tuple > int64_t(dims.size()))
    return site.fail("C1: the last dimension of 'indices' must be static and at most x's rank ",
                     dims.size(), "; found ", shapeText(taken), "; correct the shape");
  Shape wanted(taken.drop_back());
  llvm::append_range(wanted, dims.drop_front(tuple));
  if (failed(checkShape(site, "C1", updates, wanted, "of the shape that the indices and x give")) ||
      failed(sameElementType(site, "C2", {x, updates})))
    return failure();
  FailureOr<OnAttr> device = commonDevice(site, "C3", {x, indices, updates});
  if (failed(device))
    return failure();
  return addResult(site, types, dims, x.type().getElementType(), *device);
}

void GatherOp::mapIndices(IndexMap &map) {
  int64_t axis = getAxis(), rank = getIndices().getType().getRank();
  Coordinates from(map.at.take_front(axis));
  from.push_back(map.load(getIndices(), Coordinates(map.at.slice(axis, rank)),
                          getX().getType().getDimSize(axis)));
  llvm::append_range(from, map.at.drop_front(axis + rank));
  map.read(0, from);
}

void GatherElementsOp::mapIndices(IndexMap &map) {
  Coordinates from(map.at);
  from[getAxis()] =
      map.load(getIndices(), Coordinates(map.at), getX().getType().getDimSize(getAxis()));
  map.read(0, from);
}

void GatherNdOp::mapIndices(IndexMap &map) {
  int64_t batch = getBatchDims(), outer = getIndices().getType().getRank() - 1;
  Coordinates tuple(map.at.take_front(outer)), from(map.at.take_front(batch));
  tuple.emplace_back();
  for (int64_t i = 0; i < getIndices().getType().getDimSize(outer); ++i) {
    tuple.back() = i;
    from.push_back(map.load(getIndices(), tuple, getX().getType().getDimSize(batch + i)));
  }
  llvm::append_range(from, map.at.drop_front(outer));
  map.read(0, from);
}

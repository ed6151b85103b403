//===- Collective.cpp - inference of the collective operations ------------===//
#include "ir/dlc/Collective.h"

#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Collective.cpp.inc"

void dlc::registerCollectives(DlcDialect &dialect) {
  RegisteredOperationName::insert<AllReduceOp>(dialect);
  RegisteredOperationName::insert<AllGatherOp>(dialect);
  RegisteredOperationName::insert<ReduceScatterOp>(dialect);
  RegisteredOperationName::insert<BroadcastRanksOp>(dialect);
  RegisteredOperationName::insert<OwnRowsOp>(dialect);
}

namespace {
LogicalResult checkReduceKind(const InferenceSite &site, ReduceKind kind, NamedOperand x) {
  const bool isFloat = isa<FloatType>(x.type().getElementType());
  if (kind == ReduceKind::sum || kind == ReduceKind::max || (kind == ReduceKind::mean && isFloat))
    return success();
  return site.fail("C1: the kind must be sum, max, or (for floats) mean; found ",
                   stringifyReduceKind(kind), " of ", x.type().getElementType(),
                   "; combine otherwise after dlc.all_gather, or cast before");
}

LogicalResult checkGroupSize(const InferenceSite &site, StringRef constraint,
                             std::optional<int64_t> size) {
  if (!size || *size >= 1)
    return success();
  return site.fail(constraint, ": the size of the group must be 1 or more; found ", *size,
                   "; give the number of ranks, or remove the attribute");
}

/// Checks that the attribute `size` (number of ranks) is set, because the shape of the result
/// depends on it.
LogicalResult requireGroupSize(const InferenceSite &site, StringRef constraint,
                               std::optional<int64_t> size) {
  if (size)
    return checkGroupSize(site, constraint, size);
  return site.fail(constraint, ": the size of the group must be given, since the result's shape "
                               "depends on it; found none; add `of` and the number of ranks");
}

LogicalResult checkRank(const InferenceSite &site, StringRef constraint, StringRef name,
                        int64_t rank, std::optional<int64_t> size) {
  if (rank >= 0 && (!size || rank < *size))
    return success();
  return site.fail(constraint, ": `", name, "` must be a rank, 0 or more",
                   size ? " and less than " + std::to_string(*size) : std::string(), "; found ",
                   rank, "; name one that there is");
}

LogicalResult checkHasFirstDim(const InferenceSite &site, StringRef constraint, NamedOperand x) {
  if (x.type().getRank() > 0)
    return success();
  return site.fail(constraint, ": '", x.name, "' must have a first dimension; found ", x.type(),
                   "; reshape it to [1]");
}

LogicalResult inferSameType(const InferenceSite &site, NamedOperand x, Types &types) {
  return addResult(site, types, x.type().getShape(), x.type().getElementType(),
                   *commonDevice(site, "", x));
}

LogicalResult inferWithRowCount(const InferenceSite &site, NamedOperand x, int64_t rows,
                                Types &types) {
  Shape shape(x.type().getShape());
  shape[0] = rows;
  return addResult(site, types, shape, x.type().getElementType(), *commonDevice(site, "", x));
}
/// Infers a result type with 1 / `size` of the rows of x: each rank gets an equal shard.
LogicalResult inferShare(const InferenceSite &site, StringRef constraint, NamedOperand x,
                         int64_t size, Types &types) {
  if (failed(checkHasFirstDim(site, constraint, x)))
    return failure();
  int64_t rows = x.type().getDimSize(0);
  if (ShapedType::isDynamic(rows))
    return inferWithRowCount(site, x, rows, types);
  if (rows % size != 0)
    return site.fail(constraint, ": the first dimension of 'x' must divide into ", size,
                     " shares; found ", rows, " rows; pad it");
  return inferWithRowCount(site, x, rows / size, types);
}
} // namespace

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  if (failed(checkReduceKind(site, adaptor.getKind(), x)) ||
      failed(checkGroupSize(site, "C2", adaptor.getSize())))
    return failure();
  if (adaptor.getTo() && failed(checkRank(site, "C3", "to", *adaptor.getTo(), adaptor.getSize())))
    return failure();
  if (adaptor.getTo() && adaptor.getKind() != ReduceKind::sum)
    return site.fail("C4: with `to`, the kind must be sum; found ",
                     stringifyReduceKind(adaptor.getKind()), "; combine on all ranks");
  return inferSameType(site, x, types);
}

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  if (failed(requireGroupSize(site, "C1", adaptor.getSize())) ||
      failed(checkHasFirstDim(site, "C2", x)))
    return failure();
  int64_t rows = x.type().getDimSize(0);
  return inferWithRowCount(
      site, x, ShapedType::isDynamic(rows) ? rows : rows * int64_t(*adaptor.getSize()), types);
}

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  if (failed(checkReduceKind(site, adaptor.getKind(), x)) ||
      failed(requireGroupSize(site, "C2", adaptor.getSize())))
    return failure();
  return inferShare(site, "C3", x, int64_t(*adaptor.getSize()), types);
}

LogicalResult OwnRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  if (failed(checkGroupSize(site, "C1", adaptor.getSize())))
    return failure();
  if (adaptor.getXs().empty())
    return site.fail("C2: required: at least one operand; found none");
  const NamedOperands named("xs", adaptor.getXs());
  ArrayRef<NamedOperand> operands = named;
  if (failed(sameElementType(site, "C2", operands)))
    return failure();
  int64_t rows = 0;
  ArrayRef<int64_t> shape = operands[0].type().getShape();
  for (const NamedOperand &x : operands) {
    if (failed(checkHasFirstDim(site, "C2", x)))
      return failure();
    ArrayRef<int64_t> other = x.type().getShape();
    if (other.drop_front() != shape.drop_front())
      return site.fail("C2: all dimensions except the first must be equal; '", operands[0].name,
                       "' is ", operands[0].type(), ", '", x.name, "' is ", x.type(),
                       "; reshape one");
    if (ShapedType::isDynamic(other[0]) || llvm::AddOverflow(rows, other[0], rows))
      return site.fail("C3: the rows of '", x.name, "' must be known; found ", x.type(),
                       "; give it a static shape");
  }
  if (!adaptor.getSize() && rows == 0)
    return site.fail(
        "C3: without a size, each rank must have at least one row; found none; add rows");
  const int64_t size = int64_t(adaptor.getSize().value_or(uint64_t(rows)));
  if (rows % size != 0)
    return site.fail("C3: the number of rows must be divisible into ", size, " shares; found ",
                     rows, "; pad them");
  auto device = commonDevice(site, "C2", operands);
  if (failed(device))
    return failure();
  Shape own(shape);
  own[0] = rows / size;
  return addResult(site, types, own, operands[0].type().getElementType(), *device);
}

LogicalResult BroadcastRanksOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  if (failed(checkGroupSize(site, "C1", adaptor.getSize())) ||
      failed(checkRank(site, "C2", "root", int64_t(adaptor.getRoot()), adaptor.getSize())))
    return failure();
  return inferSameType(site, x, types);
}

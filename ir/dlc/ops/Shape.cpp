//===- Shape.cpp - inference and folding of operations that move elements ---===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"
#include "ir/dlc/Matchers.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Shape.cpp.inc"

void DlcDialect::registerShape() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Shape.cpp.inc"
      >();
}

namespace {
/// Checks that the result y has the same element type and device as the operand x.
LogicalResult verifyKept(Operation *op, StringRef constraint, RankedTensorType x,
                         RankedTensorType y) {
  if (x.getElementType() != y.getElementType())
    return op->emitOpError() << constraint << ": the element type must not change; found "
                             << x.getElementType() << " to " << y.getElementType()
                             << "; convert with dlc.cast";
  OnAttr from = getPlace(x), to = getPlace(y);
  if (bool(from) != bool(to) || (from && !from.sameDevice(to)))
    return op->emitOpError() << constraint << ": the device must not change; found "
                             << (from ? from.getDeviceName() : "unplaced") << " to "
                             << (to ? to.getDeviceName() : "unplaced")
                             << "; move with dlc.transfer";
  return success();
}

bool isIdentityOrder(ArrayRef<int64_t> permutation) {
  for (auto [i, dim] : llvm::enumerate(permutation))
    if (dim != int64_t(i))
      return false;
  return true;
}

bool isPlain(Value value) { return layoutOf(value.getType()).empty(); }
} // namespace

//===----------------------------------------------------------------------===//
// constant, iota
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "cst"); }

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank();
  if (getAxis() < uint64_t(rank))
    return success();
  return emitOpError() << "C1: the axis must be a dimension of the result; found "
                       << int64_t(getAxis()) << " for rank " << rank << "; give 0 to rank - 1";
}

//===----------------------------------------------------------------------===//
// reshape, broadcast
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = getX().getType(), y = getType();
  if (x.hasStaticShape() && y.hasStaticShape()) {
    std::optional<int64_t> before = countElements(x.getShape()),
                           after = countElements(y.getShape());
    if (!before || !after || *before != *after)
      return emitOpError() << "C1: the number of elements must not change; found "
                           << shapeText(x.getShape()) << " to " << shapeText(y.getShape())
                           << "; correct the shape";
  }
  return verifyKept(*this, "C2", x, y);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<ReshapeOp>();
  // Two reshapes are not folded if a layout is blocked: the order in memory then differs from the
  // order of the indices.
  if (!inner || !isPlain(inner.getX()) || !isPlain(getX()) || !isPlain(getResult()))
    return {};
  if (inner.getX().getType() == getType())
    return inner.getX();
  setOperand(inner.getX());
  return getResult();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType x = getX().getType(), y = getType();
  if (!broadcastsTo(x.getShape(), y.getShape()))
    return emitOpError() << "C1: the operand's shape must broadcast to the result's; found "
                         << shapeText(x.getShape()) << " to " << shapeText(y.getShape())
                         << "; each dimension, from the last on, must be 1 or the result's";
  return verifyKept(*this, "C2", x, y);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<BroadcastOp>();
  if (!inner || !inner.getX().getType().hasStaticShape())
    return {};
  setOperand(inner.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  int64_t rank = x.type().getRank();
  SmallVector<bool> seen(rank, false);
  bool right = int64_t(permutation.size()) == rank;
  for (int64_t dim : permutation) {
    right = right && dim >= 0 && dim < rank && !seen[dim];
    if (right)
      seen[dim] = true;
  }
  if (!right)
    return site.fail("C1: `permutation` must hold each of the ", rank, " dimensions once; found ",
                     shapeText(permutation), "; correct it");
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(x.type().getDimSize(dim));
  return addResult(site, types, shape, x.type().getElementType(), *commonDevice(site, "", x));
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentityOrder(getPermutation()) && getX().getType() == getType())
    return getX();
  return {};
}

namespace {
/// Merges two transposes: transpose(transpose(x, p), q) -> transpose(x, p[q]).
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> composed;
    for (int64_t dim : op.getPermutation())
      composed.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getX(), composed);
    return success();
  }
};
} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeTransposes>(context);
}

//===----------------------------------------------------------------------===//
// slice, pad, concat
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  size_t rank = x.type().getRank();
  ArrayRef<int64_t> start = adaptor.getStart(), size = adaptor.getSize(),
                    stride = adaptor.getStride();
  if (failed(checkEntries(site, "C1", "start", start, rank)) ||
      failed(checkEntries(site, "C1", "size", size, rank)) ||
      failed(checkEntries(site, "C1", "stride", stride, rank)))
    return failure();
  for (size_t d = 0; d < rank; ++d) {
    if (stride[d] == 0)
      return site.fail("C2: strides must not be zero; found 0 in dimension ", d,
                       "; give 1 to take every element");
    if (size[d] < 0)
      return site.fail("C2: sizes must be 0 or more; found ", size[d], " in dimension ", d);
    if (size[d] == 0)
      continue;
    int64_t dim = x.type().getDimSize(d);
    __int128 last = start[d] + __int128(size[d] - 1) * stride[d];
    bool inside = start[d] >= 0 && last >= 0 &&
                  (ShapedType::isDynamic(dim) || (start[d] < dim && last < dim));
    if (!inside)
      return site.fail("C2: all selected elements must be inside the operand; found start ",
                       start[d], ", size ", size[d], ", stride ", stride[d], " in dimension ", d,
                       " of size ", dimText(dim), "; take fewer or begin elsewhere");
  }
  return addResult(site, types, size, x.type().getElementType(), *commonDevice(site, "", x));
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = getX().getType() == getType() && getType().hasStaticShape() &&
               llvm::all_of(getStart(), [](int64_t s) { return s == 0; }) &&
               llvm::all_of(getStride(), [](int64_t s) { return s == 1; });
  return whole ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, value{"value", adaptor.getValue()};
  size_t rank = x.type().getRank();
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  if (failed(checkEntries(site, "C1", "low", low, rank)) ||
      failed(checkEntries(site, "C1", "high", high, rank)))
    return failure();
  if (value.type().getRank() != 0)
    return site.fail("C2: 'value' must be 0-d; found ", shapeText(value.type().getShape()),
                     "; reshape it to []");
  if (failed(sameElementType(site, "C2", {x, value})))
    return failure();
  Shape shape;
  for (size_t d = 0; d < rank; ++d) {
    int64_t dim = x.type().getDimSize(d), size;
    if (ShapedType::isDynamic(dim)) {
      shape.push_back(dim);
      continue;
    }
    if (llvm::AddOverflow(dim, low[d], size) || llvm::AddOverflow(size, high[d], size) || size < 0)
      return site.fail("C3: no dimension of the result may be negative; dimension ", d, " of size ",
                       dim, " is padded by ", low[d], " and ", high[d], "; remove less");
    if (adaptor.getMode() == PadMode::reflect &&
        (low[d] >= std::max<int64_t>(dim, 1) || high[d] >= std::max<int64_t>(dim, 1)))
      return site.fail(
          "C3: the mode reflect requires padding smaller than the dimension; dimension ", d,
          " of size ", dim, " is padded by ", low[d], " and ", high[d], "; pad less");
    bool grows = low[d] > 0 || high[d] > 0;
    if (dim == 0 && grows && adaptor.getMode() != PadMode::constant)
      return site.fail("C3: an empty dimension has no elements to repeat; dimension ", d,
                       " has size 0; pad with a constant");
    shape.push_back(size);
  }
  return addResult(site, types, shape, x.type().getElementType(),
                   *commonDevice(site, "C2", {x, value}));
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isNothing = [](int64_t amount) { return amount == 0; };
  bool nothing = getX().getType() == getType() && llvm::all_of(getLow(), isNothing) &&
                 llvm::all_of(getHigh(), isNothing);
  return nothing ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  const NamedOperands named("xs", adaptor.getXs());
  ArrayRef<NamedOperand> operands = named;
  if (operands.empty())
    return site.fail("C1: required: at least one operand; found none");
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(site, "C1", axis, operands[0])))
    return failure();
  Shape shape(operands[0].type().getShape());
  for (const NamedOperand &operand : ArrayRef(operands).drop_front()) {
    ArrayRef<int64_t> dims = operand.type().getShape();
    if (dims.size() != shape.size())
      return site.fail("C1: all ranks must agree; '", operands[0].name, "' has rank ", shape.size(),
                       ", '", operand.name, "' rank ", dims.size(), "; reshape one");
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (int64_t(d) == axis) {
        bool dynamic = ShapedType::isDynamic(dim) || ShapedType::isDynamic(shape[d]);
        if (dynamic)
          shape[d] = ShapedType::kDynamic;
        else if (llvm::AddOverflow(shape[d], dim, shape[d]))
          return site.fail("C2: the size of the result along the axis exceeds 63 bits");
        continue;
      }
      if (!areDimsCompatible(dim, shape[d]))
        return site.fail("C2: dimensions other than the axis must agree; dimension ", d, " is ",
                         shape[d], " in '", operands[0].name, "' and ", dim, " in '", operand.name,
                         "'; correct one of the shapes");
      shape[d] = mergeDims(shape[d], dim);
    }
  }
  FailureOr<OnAttr> device = commonDevice(site, "C3", operands);
  if (failed(sameElementType(site, "C3", operands)) || failed(device))
    return failure();
  return addResult(site, types, shape, operands[0].type().getElementType(), *device);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getXs().size() == 1 && getXs()[0].getType() == getType())
    return getXs()[0];
  return {};
}

//===----------------------------------------------------------------------===//
// Index maps: the operand element that each result element is copied from
//===----------------------------------------------------------------------===//

void ReshapeOp::mapIndices(IndexMap &map) {
  map.read(0, map.x.reshape(getType().getShape(), getX().getType().getShape(), map.at));
}

void TransposeOp::mapIndices(IndexMap &map) {
  Coordinates from(map.at.size());
  for (auto [i, dim] : llvm::zip(map.at, getPermutation()))
    from[dim] = i;
  map.read(0, from);
}

void BroadcastOp::mapIndices(IndexMap &map) {
  map.read(0, broadcastIndex(getX().getType().getShape(), map.at, IndexExpr()));
}

void SliceOp::mapIndices(IndexMap &map) {
  Coordinates from;
  for (auto [i, start, stride] : llvm::zip(map.at, getStart(), getStride()))
    from.push_back(i * stride + start);
  map.read(0, from);
}

/// Returns the operand index that dlc.pad reads at `i`, a result index minus the leading padding,
/// in a dimension of `size` elements.
static IndexExpr getPadSourceIndex(IndexContext &x, PadMode mode, const IndexExpr &i,
                                   int64_t size) {
  if (mode == PadMode::constant || i.isWithin(size))
    return i;
  if (size == 1)
    return 0;
  if (mode == PadMode::edge)
    return x.greatest(x.least(i, size - 1), 0);
  // In wrap and reflect mode, the index is periodic. In reflect mode, the second half of a period
  // mirrors the first half. Whole periods are added so that the dividend of the remainder is not
  // negative.
  int64_t period = mode == PadMode::wrap ? size : 2 * (size - 1);
  int64_t before = (std::max<int64_t>(-i.low(), 0) + period - 1) / period;
  IndexExpr m = x.remainder(i + before * period, period);
  return mode == PadMode::wrap ? m : x.least(m, IndexExpr(period) - m);
}

void PadOp::mapIndices(IndexMap &map) {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  if (!llvm::is_contained(shape, 0)) {
    OperandRead &read = map.read(0, {});
    for (auto [d, size] : llvm::enumerate(shape)) {
      read.at.push_back(getPadSourceIndex(map.x, getMode(), map.at[d] - getLow()[d], size));
      if (getMode() == PadMode::constant)
        read.guard(read.at.back(), size);
    }
  }
  map.read(1, {});
}

void ConcatOp::mapIndices(IndexMap &map) {
  const IndexExpr &place = map.at[getAxis()];
  int64_t whole = getType().getDimSize(getAxis()), start = 0;
  for (auto [number, part] : llvm::enumerate(getXs())) {
    int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(getAxis());
    OperandRead &read = map.read(number, Coordinates(map.at));
    read.at[getAxis()] = place - start;
    start += size;
    // A lower bound of the position is not needed: the first operand whose guard holds is read, so
    // an upper bound is sufficient.
    if (size == 0 || start < whole)
      read.guard(place, size == 0 ? 0 : start);
  }
}

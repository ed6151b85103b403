//===- Contract.cpp - inference of matrix multiplications -----------------===//
#include "ir/dlc/Contraction.h"
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Contract.cpp.inc"

void DlcDialect::registerContract() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Contract.cpp.inc"
      >();
}

bool dlc::isIntegerContraction(Operation *op) {
  return isa<MatmulOp, ConvOp>(op) &&
         isNarrowInteger(cast<RankedTensorType>(op->getOperand(0).getType()).getElementType());
}

Value dlc::zeroPointOf(Operation *contraction, unsigned operand) {
  if (auto matmul = dyn_cast<MatmulOp>(contraction))
    return operand == 0 ? matmul.getAZeroPoint() : matmul.getBZeroPoint();
  auto conv = dyn_cast<ConvOp>(contraction);
  return !conv ? Value() : operand == 0 ? conv.getXZeroPoint() : conv.getWZeroPoint();
}

bool dlc::hasSingleZeroPoints(Operation *contraction) {
  return llvm::all_of(llvm::seq(2u), [&](unsigned i) {
    Value zero = zeroPointOf(contraction, i);
    auto type = zero ? cast<RankedTensorType>(zero.getType()) : RankedTensorType();
    return !zero || (type.hasStaticShape() && type.getNumElements() == 1);
  });
}

void dlc::setZeroPoints(Operation *contraction, Value left, Value right) {
  auto set = [](MutableOperandRange operand, Value zero) {
    operand.assign(zero ? ValueRange(zero) : ValueRange());
  };
  if (auto matmul = dyn_cast<MatmulOp>(contraction)) {
    set(matmul.getAZeroPointMutable(), left);
    return set(matmul.getBZeroPointMutable(), right);
  }
  auto conv = cast<ConvOp>(contraction);
  set(conv.getXZeroPointMutable(), left);
  set(conv.getWZeroPointMutable(), right);
}

Value dlc::biasOf(Operation *contraction) {
  if (auto conv = dyn_cast<ConvOp>(contraction))
    return conv.getBias();
  auto transposed = dyn_cast<ConvTransposeOp>(contraction);
  return transposed ? transposed.getBias() : Value();
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand a{"a", adaptor.getA()}, b{"b", adaptor.getB()};
  ArrayRef<int64_t> left = a.type().getShape(), right = b.type().getShape();
  if (left.size() < 2 || right.size() < 2)
    return site.fail("C1: both ranks must be 2 or more; found ", left.size(), " and ", right.size(),
                     "; reshape a vector to a matrix of one row or column");
  int64_t m = left[left.size() - 2], k = left.back(), n = right.back(),
          other = right[right.size() - 2];
  if (adaptor.getTransposeA())
    std::swap(m, k);
  if (adaptor.getTransposeB())
    std::swap(n, other);
  if (!areDimsCompatible(k, other))
    return site.fail("C2: the contracted dimensions must agree; found ", k, " in 'a' and ", other,
                     " in 'b'; transpose one operand or correct the shape");
  // The batch dimensions of a and b broadcast by NumPy's rules.
  ArrayRef<int64_t> batchA = left.drop_back(2), batchB = right.drop_back(2);
  Shape shape(std::max(batchA.size(), batchB.size()), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t one = i < batchA.size() ? batchA[batchA.size() - 1 - i] : 1;
    int64_t two = i < batchB.size() ? batchB[batchB.size() - 1 - i] : 1;
    if (one != 1 && two != 1 && !areDimsCompatible(one, two))
      return site.fail("C3: the batch dimensions must broadcast together; found ",
                       shapeText(batchA), " in 'a' and ", shapeText(batchB),
                       " in 'b'; make them equal, or 1");
    shape[shape.size() - 1 - i] = one == 1 ? two : two == 1 ? one : mergeDims(one, two);
  }
  NamedOperand zeroA{"a_zero_point", adaptor.getAZeroPoint()},
      zeroB{"b_zero_point", adaptor.getBZeroPoint()};
  FailureOr<Type> element = contractionElement(site, "C4", "C5", a, b, {}, zeroA, zeroB);
  FailureOr<OnAttr> device;
  if (failed(element) || failed(device = commonDevice(site, "C4", {a, b, zeroA, zeroB})))
    return failure();
  // A zero point has rank 0, or the operand's shape with size 1 along the reduction (K) dimension:
  // one value for each row of a or column of b.
  auto fits = [&](NamedOperand zero, NamedOperand operand, bool contractsLast) -> LogicalResult {
    if (!zero.value || zero.type().getRank() == 0)
      return success();
    Shape wanted(operand.type().getShape());
    wanted[wanted.size() - (contractsLast ? 1 : 2)] = 1;
    return zero.type().getRank() == int64_t(wanted.size()) &&
                   broadcastsTo(zero.type().getShape(), wanted)
               ? success()
               : site.fail("C6: '", zero.name, "' must have rank 0 or broadcast to ",
                           shapeText(wanted), "; found ", shapeText(zero.type().getShape()),
                           "; reshape it");
  };
  if (failed(fits(zeroA, a, !adaptor.getTransposeA())) ||
      failed(fits(zeroB, b, adaptor.getTransposeB())))
    return failure();
  shape.push_back(m);
  shape.push_back(n);
  return addResult(site, types, shape, *element, *device);
}

SmallVector<int64_t> MatmulOp::foldedExtents() {
  ArrayRef<int64_t> a = getA().getType().getShape();
  return {a[a.size() - (getTransposeA() ? 2 : 1)]};
}

void MatmulOp::mapIndices(IndexMap &map) {
  auto read = [&](unsigned operand, bool transposed, const IndexExpr &row,
                  const IndexExpr &column) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(getOperand(operand).getType()).getShape();
    Coordinates from = broadcastIndex(shape.drop_back(2), map.at.drop_back(2), IndexExpr());
    from.push_back(transposed ? column : row);
    from.push_back(transposed ? row : column);
    map.read(operand, from);
  };
  read(0, getTransposeA(), map.at.end()[-2], map.over[0]);
  read(1, getTransposeB(), map.over[0], map.at.back());
}

LogicalResult GroupedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand a{"a", adaptor.getA()}, b{"b", adaptor.getB()}, ends{"ends", adaptor.getEnds()};
  ArrayRef<int64_t> rows = a.type().getShape(), matrices = b.type().getShape();
  if (rows.size() != 2 || matrices.size() != 3 || ends.type().getRank() != 1)
    return site.fail("C1: 'a' must have rank 2, 'b' rank 3 and 'ends' rank 1; found ", rows.size(),
                     ", ", matrices.size(), " and ", ends.type().getRank(),
                     "; join the dimensions of rows with dlc.reshape");
  bool transposed = adaptor.getTransposeB();
  int64_t k = matrices[transposed ? 2 : 1], n = matrices[transposed ? 1 : 2];
  if (!areDimsCompatible(rows[1], k))
    return site.fail("C2: the contracted dimensions must agree; found ", rows[1], " in 'a' and ", k,
                     " in 'b'; set or drop transpose_b, or correct the shape");
  if (!areDimsCompatible(matrices[0], ends.type().getDimSize(0)))
    return site.fail("C3: 'b' must have a matrix for each of 'ends'; found ", matrices[0], " and ",
                     ends.type().getDimSize(0),
                     "; give each group an end, where it has no rows too");
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C4", {a, b})) ||
      failed(device = commonDevice(site, "C4", {a, b, ends})))
    return failure();
  return addResult(site, types, {rows[0], n}, a.type().getElementType(), *device);
}

LogicalResult GroupedWeightGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand a{"a", adaptor.getA()}, dy{"dy", adaptor.getDy()}, ends{"ends", adaptor.getEnds()};
  ArrayRef<int64_t> left = a.type().getShape(), right = dy.type().getShape();
  if (left.size() != 2 || right.size() != 2 || ends.type().getRank() != 1)
    return site.fail("C1: 'a' and 'dy' must have rank 2 and 'ends' rank 1; found ", left.size(),
                     ", ", right.size(), " and ", ends.type().getRank(),
                     "; join the dimensions of rows with dlc.reshape");
  if (!areDimsCompatible(left[0], right[0]))
    return site.fail("C2: 'a' and 'dy' must have as many rows; found ", left[0], " and ", right[0],
                     "; correct the shape");
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C3", {a, dy})) ||
      failed(device = commonDevice(site, "C3", {a, dy, ends})))
    return failure();
  return addResult(site, types, {ends.type().getDimSize(0), left[1], right[1]},
                   a.type().getElementType(), *device);
}

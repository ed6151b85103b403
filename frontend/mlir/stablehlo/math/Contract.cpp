//===- Contract.cpp - dot and dot_general as matmul ---------------------------------------===//
#include "frontend/mlir/stablehlo/math/Contract.h"

#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/shape/Indices.h"

using namespace mlir;

namespace dlc::stablehlo {

void widenOperands(Build &b, Value &lhs, Value &rhs, Type result) {
  auto isByte = [&](Value v) { return b.elem(v).isInteger(8); };
  if (isByte(lhs) && isByte(rhs) && result == b.i32)
    return;
  lhs = b.cast(lhs, result);
  rhs = b.cast(rhs, result);
}

namespace {

/// One operand of a dot_general, as a batch of matrices: its batch, contracting and free
/// dimensions.
struct DotOperand {
  Value x;
  Dims batch, contracting, free;

  /// Returns the sizes of the dimensions `dims` of the operand.
  Dims sizes(Build &b, const Dims &dims) const {
    Dims result;
    for (int64_t d : dims)
      result.push_back(b.dim(x, d));
    return result;
  }
};

int64_t multiplySizes(const Dims &sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

Dims concatDims(Dims a, const Dims &middle, const Dims &c) {
  a.insert(a.end(), middle.begin(), middle.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

bool isIdentityOrder(const Dims &order) {
  for (auto [i, d] : llvm::enumerate(order))
    if (int64_t(i) != d)
      return false;
  return true;
}

/// Reshapes the operand to [batch.., free, contracting] or, if `isSwapped`, to [batch..,
/// contracting, free]. Chooses the order that needs no transpose; if both need one, `isSwapped`
/// decides. Sets `isSwapped` to the choice.
Value reshapeToMatrices(Build &b, const DotOperand &s, bool &isSwapped) {
  Dims plain = concatDims(s.batch, s.free, s.contracting),
       swapped = concatDims(s.batch, s.contracting, s.free);
  if (isIdentityOrder(plain))
    isSwapped = false;
  else if (isIdentityOrder(swapped))
    isSwapped = true;
  Dims shape = s.sizes(b, s.batch);
  const int64_t rows = multiplySizes(s.sizes(b, s.free)),
                depth = multiplySizes(s.sizes(b, s.contracting));
  shape.push_back(isSwapped ? depth : rows);
  shape.push_back(isSwapped ? rows : depth);
  return b.reshape(b.transpose(s.x, isSwapped ? swapped : plain), shape);
}

/// Multiplies two operands as matrices. The result is [batch.., free of lhs.., free of rhs..], in
/// the given element type.
Value buildBatchedMatmul(Build &b, DotOperand lhs, DotOperand rhs, Type element,
                         const Dims &shape) {
  widenOperands(b, lhs.x, rhs.x, element);
  bool isLhsSwapped = false, isRhsSwapped = true;
  Value a = reshapeToMatrices(b, lhs, isLhsSwapped), c = reshapeToMatrices(b, rhs, isRhsSwapped);
  SmallVector<NamedAttribute> attributes;
  if (isLhsSwapped)
    attributes.push_back(b.attrUnit("transpose_a"));
  if (!isRhsSwapped)
    attributes.push_back(b.attrUnit("transpose_b"));
  // If lhs has several free dimensions and needs no transpose, it is not flattened to a matrix: its
  // leading free dimensions become batch dimensions of the matmul.
  if (lhs.batch.empty() && !isLhsSwapped && lhs.contracting.size() == 1 && lhs.free.size() > 1 &&
      isIdentityOrder(concatDims(lhs.batch, lhs.free, lhs.contracting)))
    a = lhs.x;
  return b.reshape(b.cast(b.op<MatmulOp>({a, c}, attributes), element), shape);
}

void dotGeneral(Node &n, Build &b) {
  auto numbers = n.attr<DotAttr>("dot_dimension_numbers");
  DotOperand lhs{n.in(0), numbers.getLhsBatching().vec(), numbers.getLhsContracting().vec(), {}};
  DotOperand rhs{n.in(1), numbers.getRhsBatching().vec(), numbers.getRhsContracting().vec(), {}};
  for (DotOperand *side : {&lhs, &rhs}) {
    for (const Dims *list : {&side->batch, &side->contracting})
      for (int64_t d : *list)
        if (!b.require(d >= 0 && d < b.rank(side->x),
                       "dot_dimension_numbers: required: dimensions of the operands; found: " +
                           Twine(d)))
          return;
    side->free = otherDims(b.rank(side->x), {side->batch, side->contracting});
  }
  if (b.require(lhs.sizes(b, lhs.batch) == rhs.sizes(b, rhs.batch) &&
                    lhs.sizes(b, lhs.contracting) == rhs.sizes(b, rhs.contracting),
                "dot_dimension_numbers: required: equal sizes of batching and of contracting "
                "dimensions; found: other sizes"))
    n.set(buildBatchedMatmul(b, lhs, rhs, n.resultElement(), n.resultShape()));
}

/// stablehlo.dot, a deprecated form of dot_general: contracts the last dimension of lhs with the
/// first dimension of rhs.
void dot(Node &n, Build &b) {
  DotOperand lhs{n.in(0), {}, {b.rank(n.in(0)) - 1}, {}}, rhs{n.in(1), {}, {0}, {}};
  if (!b.require(b.rank(n.in(0)) > 0 && b.rank(n.in(1)) > 0 &&
                     b.dim(n.in(0), -1) == b.dim(n.in(1), 0),
                 "required: operands whose last and first dimension agree"))
    return;
  lhs.free = otherDims(b.rank(lhs.x), {lhs.contracting});
  rhs.free = otherDims(b.rank(rhs.x), {rhs.contracting});
  n.set(buildBatchedMatmul(b, lhs, rhs, n.resultElement(), n.resultShape()));
}

const OperatorEntry table[] = {
    {"stablehlo.dot", dot},
    {"stablehlo.dot_general", dotGeneral},
};

} // namespace

ArrayRef<OperatorEntry> contractEntries() { return table; }

} // namespace dlc::stablehlo

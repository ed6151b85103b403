//===- Search.cpp - binary search in sorted tensors -----------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Binary search, as in searchsorted: for each value, returns the number of elements that precede
/// it in a row of `order`, which is ascending along the last dimension. Preceding elements are less
/// than the value or, if `right` is set, not greater. If `order` has only one dimension, it applies
/// to all values. The number of steps is the number of binary digits of the row size.
Value buildBinarySearch(Build &b, Value order, Value values, bool right) {
  bool shared = b.rank(order) == 1;
  int64_t size = b.dim(order, -1), axis = b.rank(order) - 1;
  Value place = b.splat(b.i64, b.shape(values), 0);
  if (!b.ok() || size == 0)
    return place;
  int64_t reach = 1;
  while (reach * 2 <= size)
    reach *= 2;
  for (; reach && b.ok(); reach /= 2) {
    // A step advances by `reach` if the element there exists and precedes the value. NaN is greater
    // than all numbers.
    Value next = b.add(place, b.scalarInt(b.i64, reach));
    Value there = b.min(b.sub(next, b.scalarInt(b.i64, 1)), b.scalarInt(b.i64, size - 1));
    Value element = shared ? b.gather(order, there, 0)
                           : b.op<GatherElementsOp>({order, there}, {b.attr("axis", axis)});
    Value before = b.negate(b.compare(right ? Predicate::gt : Predicate::ge, element, values));
    Value inside = b.compare(Predicate::le, next, b.scalarInt(b.i64, size));
    place = b.select(b.both(before, inside), next, place);
  }
  return place;
}

void setSearchResult(Node &n, Build &b, StringRef sequence, bool right) {
  Type element = n.promoted({sequence, "self"});
  Value order = n.operand(sequence, element), values = n.operand("self", element);
  if (n.has("sorter"))
    order =
        b.op<GatherElementsOp>({order, n.tensor("sorter")}, {b.attr("axis", b.rank(order) - 1)});
  if (b.require(b.rank(order) >= 1, "required: an ordered tensor with a dimension"))
    n.set(b.cast(buildBinarySearch(b, order, values, right), n.resultElement()));
}

void searchSorted(Node &n, Build &b) {
  setSearchResult(n, b, "sorted_sequence", n.flag("right") || n.text("side") == "right");
}

void bucketize(Node &n, Build &b) { setSearchResult(n, b, "boundaries", n.flag("right")); }

/// repeat_interleave: repeats each index as often as `repeats` specifies. Requires that PyTorch
/// recorded the size of the result.
void repeatInterleave(Node &n, Build &b) {
  Value repeats = n.tensor("repeats");
  if (!n.result() || !b.require(b.rank(repeats) == 1, "required: repeats of one dimension"))
    return;
  Value ends = b.op<CumulativeOp>({b.cast(repeats, b.i64)},
                                  {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::sum)),
                                   b.attr("axis", int64_t(0))});
  Value places = b.iota(b.i64, n.result().getShape(), 0);
  n.set(b.cast(buildBinarySearch(b, ends, places, /*right=*/true), n.resultElement()));
}

const Operator table[] = {
    {"searchsorted.Tensor", searchSorted},
    {"searchsorted.Scalar", searchSorted},
    {"bucketize.Tensor", bucketize},
    {"bucketize.Scalar", bucketize},
    {"repeat_interleave.Tensor", repeatInterleave},
};

} // namespace

ArrayRef<Operator> searchOperators() { return table; }

} // namespace dlc::aten

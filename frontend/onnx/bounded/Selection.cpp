//===- Selection.cpp - operators with a data-dependent result shape -------===//
// Shapes are static, so these operators require constant operands at import, and the result is a
// constant. Selected.h describes NonZero, Compress and NonMaxSuppression of other operands.
#include "frontend/onnx/bounded/Selected.h"

#include <numeric>

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void nonZero(Node &n, Build &b) {
  auto x = b.attempt(n.in(0));
  if (!x)
    return n.set(0, buildDynamicNonZero(b, n.in(0)));
  Dims found;
  for (int64_t i = 0; i < x->size(); ++i)
    if (x->getDouble(i) != 0)
      found.push_back(i);
  Dims strides = ref::rowMajorStrides(x->getShape()), result;
  for (int64_t d = 0; d < x->getRank(); ++d)
    for (int64_t i : found)
      result.push_back(i / strides[d] % x->getShape()[d]);
  n.set(0, b.ints(result, {x->getRank(), int64_t(found.size())}, b.i64));
}

void compress(Node &n, Build &b) {
  Value x = n.in(0);
  auto condition = b.attempt(n.in(1));
  int64_t axis = 0;
  if (n.hasAttr("axis"))
    axis = b.axis(n.integer("axis", 0), b.rank(x));
  else
    x = b.flatten(x);
  if (!b.ok())
    return;
  if (!condition)
    return n.set(0, buildDynamicCompress(b, x, n.in(1), axis));
  Dims chosen;
  for (int64_t i = 0; i < condition->size(); ++i)
    if (condition->getInt(i) &&
        b.require(i < b.dim(x, axis), "the condition is longer than the axis"))
      chosen.push_back(i);
  n.set(0, b.gather(x, b.ints(chosen), axis));
}

/// Total order of the elements of a constant tensor: exact for 64-bit integers, and NaN is last.
struct ElementLess {
  const ref::Tensor &x;
  int compare(int64_t i, int64_t j) const {
    if (!x.isFloat()) {
      int64_t a = x.getInt(i), c = x.getInt(j);
      if (x.getElementType().isUnsignedInteger(64))
        return uint64_t(a) < uint64_t(c) ? -1 : a != c;
      return a < c ? -1 : a > c;
    }
    double a = x.getDouble(i), c = x.getDouble(j);
    if (std::isnan(a) || std::isnan(c))
      return std::isnan(a) - std::isnan(c);
    return a < c ? -1 : a > c;
  }
};

/// Handles Unique of values computed at run time: the values are sorted, and the first of equal
/// ones is selected.
void importDynamicUnique(Node &n, Build &b) {
  Value x = b.flatten(n.in(0));
  const int64_t size = b.count(x);
  auto both = b.ops<TopKOp>({x}, {b.attr("k", size), b.attr("axis", int64_t(0)),
                                  b.attr("largest", b.b.getBoolAttr(false)),
                                  b.attr("sorted", b.b.getBoolAttr(true))});
  if (both.size() != 2)
    return;
  Value sorted = both[0], places = both[1];
  Value isNew =
      b.concat({b.splat(b.i1, {1}, 1), b.compare(Predicate::ne, b.sliceAxis(sorted, 0, 1, size - 1),
                                                 b.sliceAxis(sorted, 0, 0, size - 1))},
               0);
  Value group = b.sub(b.runningSum(b.cast(isNew, b.i64), 0), 1);
  Value zeros = b.splat(b.i64, {size}, 0);
  n.set(0, buildDynamicCompress(b, sorted, isNew, 0));
  n.set(1, buildDynamicCompress(b, places, isNew, 0));
  n.set(2, b.scatter(zeros, places, group, 0));
  if (n.hasOutput(3)) {
    Value members = b.scatter(zeros, group, b.splat(b.i64, {size}, 1), 0, ScatterReduction::add);
    n.set(3, buildDynamicCompress(b, b.gather(members, group, 0), isNew, 0));
  }
}

void unique(Node &n, Build &b) {
  if (b.ok() && !n.hasAttr("axis") && n.integer("sorted", 1) && b.count(n.in(0)) > 1 &&
      !b.attempt(n.in(0)) && b.ok())
    return importDynamicUnique(n, b);
  auto x = b.need(n.in(0), "the operand, whose unique elements give the result's shape,");
  if (!x)
    return;
  Value source = n.in(0);
  bool flat = !n.hasAttr("axis");
  int64_t axis = flat ? 0 : b.axis(n.integer("axis", 0), x->getRank());
  if (!b.ok())
    return;
  if (flat)
    source = b.flatten(source);
  // The source is viewed as [outer, extent, inner], where the slices to compare are along the
  // middle dimension.
  int64_t extent = b.dim(source, axis), inner = 1, outer = 1;
  for (int64_t d = 0; d < b.rank(source); ++d)
    (d < axis ? outer : d > axis ? inner : extent) *= d == axis ? 1 : b.shape(source)[d];
  ElementLess less{*x};
  auto order = [&](int64_t s, int64_t t) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        if (int c = less.compare((o * extent + s) * inner + i, (o * extent + t) * inner + i))
          return c;
    return 0;
  };
  Dims sorted(extent);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int64_t s, int64_t t) { return order(s, t) < 0; });
  // The result contains the first slice of each group of equal slices.
  Dims firsts, counts, group(extent);
  for (int64_t i = 0; i < extent; ++i) {
    if (i == 0 || order(sorted[i - 1], sorted[i]) != 0) {
      firsts.push_back(sorted[i]);
      counts.push_back(0);
    }
    ++counts.back();
    group[sorted[i]] = int64_t(firsts.size()) - 1;
  }
  if (!n.integer("sorted", 1)) {
    Dims by(firsts.size()), place(firsts.size()), newFirsts, newCounts;
    std::iota(by.begin(), by.end(), 0);
    std::sort(by.begin(), by.end(), [&](int64_t i, int64_t j) { return firsts[i] < firsts[j]; });
    for (size_t i = 0; i < by.size(); ++i) {
      place[by[i]] = int64_t(i);
      newFirsts.push_back(firsts[by[i]]);
      newCounts.push_back(counts[by[i]]);
    }
    for (int64_t &g : group)
      g = place[g];
    firsts = newFirsts;
    counts = newCounts;
  }
  n.set(0, b.gather(source, b.ints(firsts), axis));
  n.set(1, b.ints(firsts));
  n.set(2, b.ints(group));
  n.set(3, b.ints(counts));
}

void nonMaxSuppression(Node &n, Build &b) { n.set(0, buildNonMaxSuppression(n, b, nullptr)); }

const Operator table[] = {
    {"NonZero", nonZero},
    {"Compress", compress},
    {"Unique", unique},
    {"NonMaxSuppression", nonMaxSuppression},
};

} // namespace

ArrayRef<Operator> selectionOperators() { return table; }

} // namespace dlc::onnxfront

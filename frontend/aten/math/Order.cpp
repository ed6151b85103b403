//===- Order.cpp - cumulative results, sorting, top-k, median -------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

template <ReduceKind kind> void cumulativeReduction(Node &n, Build &b) {
  Value x = b.cast(n.tensor("self"), n.resultElement());
  if (b.rank(x) == 0)
    return n.set(x);
  n.set(b.op<CumulativeOp>({x}, {b.attr("kind", ReduceKindAttr::get(b.context, kind)),
                                 b.attr("axis", n.axis("dim", b.rank(x)))}));
}

/// Reshapes a 0-d tensor to one dimension.
Value withAxis(Build &b, Value x) { return b.rank(x) ? x : b.reshape(x, {1}); }

/// Combining function of a scan: returns the combined values of preceding elements (`before`) and
/// of the current elements (`here`). Both are lists of tensors of the same shape.
using Step = llvm::function_ref<std::vector<Value>(ArrayRef<Value> before, ArrayRef<Value> here)>;

/// Inclusive scan along a dimension in log2(size) steps (Hillis-Steele): each step combines
/// elements at distances 1, 2, 4, .... `start` contains the values that precede the first element.
std::vector<Value> scanned(Build &b, std::vector<Value> xs, int64_t axis, ArrayRef<Value> start,
                           Step step) {
  for (int64_t reach = 1; b.ok() && reach < b.dim(xs[0], axis); reach *= 2) {
    std::vector<Value> before;
    for (auto [x, first] : llvm::zip(xs, start)) {
      Dims low(size_t(b.rank(x)), 0), high = low;
      low[size_t(axis)] = reach;
      high[size_t(axis)] = -reach;
      before.push_back(b.pad(x, first, PadMode::constant, low, high));
    }
    xs = step(before, xs);
  }
  return xs;
}

/// cummax and cummin: the cumulative maximum or minimum, which is NaN from the first NaN on, and
/// the index of its last occurrence.
template <Predicate reaches> void cumulativeExtreme(Node &n, Build &b) {
  Value given = n.tensor("self"), x = withAxis(b, given);
  if (b.isBool(x))
    x = b.cast(x, b.i32);
  int64_t axis = n.axis("dim", b.rank(x));
  Dims line(size_t(std::max<int64_t>(1, b.rank(x))), 1);
  line[size_t(axis)] = b.dim(x, axis);
  Value place = b.broadcast(b.iota(b.i64, line, axis), b.shape(x));
  // Index of padding, which precedes the first element and is never selected.
  Value none = b.scalarInt(b.i64, -1);
  auto made = scanned(b, {x, place}, axis, {b.scalarInt(b.elem(x), 0), none},
                      [&](ArrayRef<Value> before, ArrayRef<Value> here) {
                        Value taken = b.either(b.compare(reaches, here[0], before[0]),
                                               b.compare(Predicate::eq, before[1], none));
                        if (b.isFloat(x))
                          taken = b.either(taken, b.unary<IsNanOp>(here[0]));
                        return std::vector<Value>{b.select(taken, here[0], before[0]),
                                                  b.select(taken, here[1], before[1])};
                      });
  if (!b.ok())
    return;
  n.set(0, b.reshape(b.cast(made[0], b.elem(given)), b.dims(given)));
  if (n.hasResult(1))
    n.set(1, b.reshape(made[1], b.dims(given)));
}

/// log(e^a + e^b) without overflow.
Value logAddExp(Build &b, Value x, Value y) {
  Value top = b.max(x, y), low = b.min(x, y), equal = b.compare(Predicate::eq, top, low);
  Value apart = b.select(equal, b.like(x, 0), b.sub(low, top));
  return b.add(top, b.unary<Log1pOp>(b.unary<ExpOp>(apart)));
}

void logCumulativeSumExp(Node &n, Build &b) {
  Value given = n.tensor("self"), x = withAxis(b, b.widen(given));
  Value nothing = b.like(x, -std::numeric_limits<double>::infinity());
  auto made = scanned(b, {x}, n.axis("dim", b.rank(x)), {nothing},
                      [&](ArrayRef<Value> before, ArrayRef<Value> here) {
                        // log(e^a + e^b) for two -inf is -inf.
                        Value sum = logAddExp(b, before[0], here[0]);
                        Value empty = b.compare(Predicate::eq, b.max(before[0], here[0]), nothing);
                        return std::vector<Value>{b.select(empty, nothing, sum)};
                      });
  n.set(b.reshape(b.cast(made[0], b.elem(given)), b.dims(given)));
}

struct SortedElements {
  Value values, places;
};

/// Returns the k largest or smallest elements along an axis in sorted order, with their indices.
/// The sort is stable.
SortedElements buildTopK(Build &b, Value x, int64_t axis, int64_t k, bool fromTop) {
  Type given = b.elem(x);
  if (b.isBool(x))
    x = b.cast(x, b.i32);
  auto made = b.ops<TopKOp>({x}, {b.attr("k", k), b.attr("axis", axis),
                                  b.attr("largest", b.b.getBoolAttr(fromTop)),
                                  b.attr("sorted", b.b.getBoolAttr(true))});
  return made.size() == 2 ? SortedElements{b.cast(made[0], given), made[1]} : SortedElements();
}

void setTopKResults(Node &n, Build &b, std::optional<int64_t> k, bool fromTop) {
  Value given = n.tensor("self"), x = withAxis(b, given);
  int64_t axis = n.axis("dim", b.rank(x));
  SortedElements made = buildTopK(b, x, axis, k.value_or(b.dim(x, axis)), fromTop);
  n.set(0, b.reshape(made.values, b.rank(given) ? b.dims(made.values) : Dims()));
  n.set(1, b.reshape(made.places, b.rank(given) ? b.dims(made.places) : Dims()));
}

/// Sets the results to the values at sorted position `place` along an axis, and to the indices of
/// these values in the unsorted tensor.
void setSortedElement(Node &n, Build &b, Value given, const SortedElements &order, Value place,
                      int64_t axis) {
  Dims shape = b.dims(place);
  if (b.rank(given) == 0)
    shape.clear();
  else if (!n.flag("keepdim") && b.ok())
    shape.erase(shape.begin() + axis);
  auto taken = [&](Value values) {
    return b.reshape(b.op<GatherElementsOp>({values, place}, {b.attr("axis", axis)}), shape);
  };
  n.set(0, taken(order.values));
  if (n.hasResult(1))
    n.set(1, taken(order.places));
}

/// kthvalue: the k-th smallest element along a dimension, with its index.
void kthValue(Node &n, Build &b) {
  Value given = n.tensor("self"), x = withAxis(b, given);
  int64_t axis = n.axis("dim", b.rank(x)), k = n.integer("k");
  if (!b.require(k >= 1 && k <= b.dim(x, axis),
                 "argument 'k': required: 1 to the size of the dimension"))
    return;
  Dims one = b.dims(x);
  one[size_t(axis)] = 1;
  setSortedElement(n, b, given, buildTopK(b, x, axis, k, false), b.splat(b.i64, one, double(k - 1)),
                   axis);
}

/// Returns `value`, which equals some elements of x. Its gradient is shared equally by these
/// elements.
Value shareGradientEqually(Build &b, Value x, Value value) {
  if (!b.isFloat(x))
    return value;
  Value lowest = b.like(x, -std::numeric_limits<double>::infinity());
  Value equal = b.select(b.compare(Predicate::eq, x, value), x, lowest);
  Value shared = b.reduce(ReduceKind::max, equal, {0}, false);
  Value nan = b.like(x, std::numeric_limits<double>::quiet_NaN());
  return b.select(b.unary<IsNanOp>(value), nan, shared);
}

/// Median. Of two middle elements it is the lower one. The result is NaN if there is a NaN, unless
/// NaNs are ignored (nanmedian). If a dimension is given, the gradient passes to the element at the
/// returned index.
template <bool ignoring> void median(Node &n, Build &b) {
  Value given = n.tensor("self"), x = withAxis(b, n.has("dim") ? given : b.flatten(given));
  int64_t axis = n.has("dim") ? n.axis("dim", b.rank(x)) : 0, size = b.dim(x, axis);
  if (!b.require(size > 0, "an empty dimension has no median"))
    return;
  Value one = b.scalarInt(b.i64, 1), two = b.scalarInt(b.i64, 2);
  Value numbers = b.scalarInt(b.i64, size), isWrong;
  if (b.isFloat(x)) {
    // NaNs are replaced by infinity, so that they are last in ascending order.
    Value isNan = b.unary<IsNanOp>(x), zero = b.scalarInt(b.i64, 0);
    x = b.select(isNan, b.like(x, std::numeric_limits<double>::infinity()), x);
    Value wrong = b.reduce(ReduceKind::sum, b.cast(isNan, b.i64), {axis}, true);
    isWrong =
        ignoring ? b.compare(Predicate::eq, wrong, numbers) : b.compare(Predicate::gt, wrong, zero);
    numbers = b.max(b.sub(numbers, wrong), one);
  }
  Dims line = b.dims(x);
  line[size_t(axis)] = 1;
  Value half = b.broadcast(b.div(b.sub(numbers, one), two), line);
  SortedElements order = buildTopK(b, x, axis, size, false);
  if (isWrong)
    order.values =
        b.select(isWrong, b.like(x, std::numeric_limits<double>::quiet_NaN()), order.values);
  if (n.has("dim"))
    return setSortedElement(n, b, given, order, half, axis);
  Value middle = b.op<GatherElementsOp>({order.values, half}, {b.attr("axis", axis)});
  n.set(shareGradientEqually(b, x, b.reshape(middle, {})));
}

void topK(Node &n, Build &b) { setTopKResults(n, b, n.integer("k"), n.flag("largest", true)); }

void sort(Node &n, Build &b) { setTopKResults(n, b, std::nullopt, n.flag("descending")); }

const Operator table[] = {
    {"cumsum.default", cumulativeReduction<ReduceKind::sum>},
    {"cumprod.default", cumulativeReduction<ReduceKind::prod>},
    {"cummax.default", cumulativeExtreme<Predicate::ge>},
    {"cummin.default", cumulativeExtreme<Predicate::le>},
    {"logcumsumexp.default", logCumulativeSumExp},
    {"_logcumsumexp.default", logCumulativeSumExp},
    {"kthvalue.default", kthValue},
    {"median.default", median<false>},
    {"median.dim", median<false>},
    {"nanmedian.default", median<true>},
    {"nanmedian.dim", median<true>},
    {"topk.default", topK},
    {"sort.default", sort},
    {"sort.stable", sort},
};

} // namespace

ArrayRef<Operator> orderOperators() { return table; }

} // namespace dlc::aten

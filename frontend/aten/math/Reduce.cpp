//===- Reduce.cpp - reductions --------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Reduces x over the dimensions in the argument "dim", or over all dimensions if it is absent.
template <ReduceKind kind> void reduce(Node &n, Build &b) {
  Value x = b.cast(n.tensor("self"), n.resultElement());
  n.set(b.reduce(kind, x, n.axes("dim", b.rank(x)), n.flag("keepdim")));
}

/// Returns the maximum or minimum of x over `axes`. Bools are reduced as i32.
template <ReduceKind kind>
Value reduceMinMax(Build &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  if (!b.isBool(x))
    return b.reduce(kind, x, axes, keep);
  return b.cast(b.reduce(kind, b.cast(x, b.i32), axes, keep), b.i1);
}

template <ReduceKind kind> bool checkNonEmpty(Build &b, Value x, ArrayRef<int64_t> axes) {
  for (int64_t axis : axes)
    if (!b.require(b.dim(x, axis) > 0, "an empty dimension has no largest or smallest element"))
      return false;
  return b.ok();
}

template <ReduceKind kind> void minMax(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims axes = n.axes("dim", b.rank(x));
  if (checkNonEmpty<kind>(b, x, axes))
    n.set(reduceMinMax<kind>(b, x, axes, n.flag("keepdim")));
}

/// Returns the index of the maximum or minimum along an axis; of equal elements the first.
Value buildArgReduce(Build &b, ReduceKind kind, Value x, int64_t axis, bool keep) {
  if (b.rank(x) == 0)
    return b.scalarInt(b.i64, 0);
  SmallVector<NamedAttribute> attributes{b.attr("kind", ReduceKindAttr::get(b.context, kind)),
                                         b.attr("axis", axis)};
  if (keep)
    attributes.push_back(b.attrUnit("keepdims"));
  return b.op<ArgReduceOp>({b.isBool(x) ? b.cast(x, b.i32) : x}, attributes);
}

/// max or min along a dimension, with the index. The gradient passes only to the element at that
/// index, even if other elements are equal.
template <ReduceKind kind> void minMaxWithIndices(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x));
  Dims axes;
  if (b.rank(x))
    axes.push_back(axis);
  if (!checkNonEmpty<kind>(b, x, axes))
    return;
  bool keep = n.flag("keepdim");
  if (!b.isFloat(x) || axes.empty()) {
    n.set(0, reduceMinMax<kind>(b, x, axes, keep));
    if (n.hasResult(1))
      n.set(1, buildArgReduce(b, kind, x, axis, keep));
    return;
  }
  Value index = buildArgReduce(b, kind, x, axis, /*keep=*/true);
  Value y = b.op<GatherElementsOp>({x, index}, {b.attr("axis", axis)});
  Dims shape = b.dims(index);
  if (!keep && b.ok())
    shape.erase(shape.begin() + axis);
  n.set(0, b.reshape(y, shape));
  if (n.hasResult(1))
    n.set(1, b.reshape(index, shape));
}

/// argmax or argmin. Without a dimension the result is the index in the flattened tensor.
template <ReduceKind kind> void argMinMax(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (n.has("dim"))
    return n.set(buildArgReduce(b, kind, x, n.axis("dim", b.rank(x)), n.flag("keepdim")));
  if (!b.require(b.count(x) > 0, "an empty tensor has no largest or smallest element"))
    return;
  Value y = buildArgReduce(b, kind, b.flatten(x), 0, false);
  n.set(n.flag("keepdim") ? b.reshape(y, Dims(size_t(b.rank(x)), 1)) : y);
}

Value castToBool(Build &b, Value x) {
  if (b.isBool(x))
    return x;
  return b.compare(Predicate::ne, x, b.scalarInt(b.elem(x) ? b.elem(x) : b.f32, 0));
}

/// any and all. Over an empty range, any is false and all is true.
template <ReduceKind kind> void anyOrAll(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims axes = n.axes("dim", b.rank(x));
  Value y = b.reduce(kind, b.cast(castToBool(b, x), b.i32), axes, n.flag("keepdim"));
  n.set(b.cast(b.compare(Predicate::gt, y, b.scalarInt(b.i32, 0)), n.resultElement()));
}

struct Moments {
  Value variance, mean;
};

/// Computes mean and variance in at least f32. The variance is the sum of squares divided by the
/// count minus `correction`.
Moments computeMoments(Node &n, Build &b) {
  Value x = b.widen(n.tensor("self"));
  Dims axes = n.axes("dim", b.rank(x));
  bool keep = n.flag("keepdim");
  double correction = n.has("correction") ? n.real("correction") : n.flag("unbiased", true) ? 1 : 0;
  double count = 1;
  for (int64_t axis : axes)
    count *= double(b.dim(x, axis));
  Value mean = b.reduce(ReduceKind::mean, x, axes, /*keepdims=*/true);
  Value centred = b.sub(x, mean);
  Value sum = b.reduce(ReduceKind::sum, b.mul(centred, centred), axes, keep);
  Value variance = b.div(sum, std::max(0.0, count - correction));
  return {variance, keep ? mean : b.reshape(mean, b.dims(variance))};
}

void variance(Node &n, Build &b) {
  n.set(b.cast(computeMoments(n, b).variance, n.resultElement()));
}

void standardDeviation(Node &n, Build &b) {
  n.set(b.cast(b.unary<SqrtOp>(computeMoments(n, b).variance), n.resultElement()));
}

void varianceAndMean(Node &n, Build &b) {
  Moments moments = computeMoments(n, b);
  Type element = b.elem(n.tensor("self"));
  n.set(0, b.cast(moments.variance, element));
  n.set(1, b.cast(moments.mean, element));
}

void logSumExp(Node &n, Build &b) {
  Value x = b.widen(n.operand("self", n.resultElement()));
  Dims axes = n.axes("dim", b.rank(x));
  Value top = b.reduce(ReduceKind::max, x, axes, true), zero = b.like(x, 0);
  top = b.select(b.unary<IsInfOp>(top), zero, top);
  Value sum = b.reduce(ReduceKind::sum, b.unary<ExpOp>(b.sub(x, top)), axes, true);
  Value y = b.add(b.unary<LogOp>(sum), top);
  Value shape = b.reduce(ReduceKind::max, x, axes, n.flag("keepdim"));
  n.set(b.cast(b.reshape(y, b.dims(shape)), n.resultElement()));
}

/// histc: counts the elements in equal-sized bins between `min` and `max`. `max` itself belongs to
/// the last bin.
void histogram(Node &n, Build &b) {
  Value x = b.widen(b.flatten(n.tensor("self")));
  int64_t bins = n.integer("bins", 100);
  double low = n.real("min", 0.0), high = n.real("max", 0.0);
  if (!b.ok() || !b.require(bins > 0 && b.count(x) <= 64 * Build::needLimit / bins,
                            "required: at least one bin, and fewer elements"))
    return;
  Value from = b.like(x, low), to = b.like(x, high);
  if (low == high) {
    bool isOpen = low == 0 && b.count(x) > 0;
    Value least = isOpen ? b.reduce(ReduceKind::min, x, {0}, false) : from,
          most = isOpen ? b.reduce(ReduceKind::max, x, {0}, false) : to;
    Value isPoint = b.compare(Predicate::eq, least, most);
    from = b.select(isPoint, b.sub(least, 1.0), least);
    to = b.select(isPoint, b.add(most, 1.0), most);
  }
  Value place = b.mul(b.div(b.sub(x, from), b.sub(to, from)), double(bins));
  place = b.min(b.unary<FloorOp>(place), b.like(place, double(bins - 1)));
  Value counts = b.both(b.compare(Predicate::ge, x, from), b.compare(Predicate::le, x, to));
  counts = b.both(b.expandDims(counts, 1), b.compare(Predicate::eq, b.expandDims(place, 1),
                                                     b.iota(b.elem(x), {1, bins}, 1)));
  n.set(
      b.cast(b.reduce(ReduceKind::sum, b.cast(counts, b.elem(x)), {0}, false), n.resultElement()));
}

const Operator table[] = {
    {"histc.default", histogram},
    {"sum.default", reduce<ReduceKind::sum>},
    {"sum.dim_IntList", reduce<ReduceKind::sum>},
    {"mean.default", reduce<ReduceKind::mean>},
    {"mean.dim", reduce<ReduceKind::mean>},
    {"prod.default", reduce<ReduceKind::prod>},
    {"prod.dim_int", reduce<ReduceKind::prod>},
    {"amax.default", minMax<ReduceKind::max>},
    {"amin.default", minMax<ReduceKind::min>},
    {"max.default", minMax<ReduceKind::max>},
    {"min.default", minMax<ReduceKind::min>},
    {"max.dim", minMaxWithIndices<ReduceKind::max>},
    {"min.dim", minMaxWithIndices<ReduceKind::min>},
    {"argmax.default", argMinMax<ReduceKind::max>},
    {"argmin.default", argMinMax<ReduceKind::min>},
    {"any.default", anyOrAll<ReduceKind::max>},
    {"any.dim", anyOrAll<ReduceKind::max>},
    {"any.dims", anyOrAll<ReduceKind::max>},
    {"_is_any_true.default", anyOrAll<ReduceKind::max>},
    {"_is_all_true.default", anyOrAll<ReduceKind::min>},
    {"all.default", anyOrAll<ReduceKind::min>},
    {"all.dim", anyOrAll<ReduceKind::min>},
    {"all.dims", anyOrAll<ReduceKind::min>},
    {"var.default", variance},
    {"var.dim", variance},
    {"var.correction", variance},
    {"std.correction", standardDeviation},
    {"var_mean.correction", varianceAndMean},
    {"var_mean.dim", varianceAndMean},
    {"logsumexp.default", logSumExp},
};

} // namespace

ArrayRef<Operator> reduceOperators() { return table; }

} // namespace dlc::aten

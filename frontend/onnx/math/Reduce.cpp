//===- Reduce.cpp - reductions, cumulative sums, top-k --------------------===//
#include "frontend/onnx/bounded/Selected.h"

using namespace mlir;

namespace dlc::onnxfront {
ReductionOptions readReduction(Node &n, Build &b) {
  ReductionOptions r;
  r.keepdims = n.integer("keepdims", 1) != 0;
  int64_t rank = b.rank(n.in(0));
  Dims axes = n.has(1) ? b.needInts(n.in(1), "the axes") : n.integers("axes");
  r.identity = axes.empty() && n.integer("noop_with_empty_axes", 0);
  if (r.identity)
    return r;
  std::vector<bool> chosen(rank, axes.empty());
  for (int64_t axis : axes) {
    int64_t a = b.axis(axis, rank);
    if (!b.ok())
      return r;
    chosen[a] = true;
  }
  for (int64_t i = 0; i < rank; ++i)
    if (chosen[i])
      r.axes.push_back(i);
  return r;
}

namespace {

template <ReduceKind kind> void reduceByKind(Node &n, Build &b) {
  ReductionOptions r = readReduction(n, b);
  Value x = n.in(0);
  if (kind == ReduceKind::sum)
    if (auto count = matchCountOfTrue(b, x, r))
      return n.set(0, *count);
  // Any and all of bools are reduced as bytes, because bytes have the correct identity element for
  // empty reductions.
  if (b.isBool(x) && (kind == ReduceKind::max || kind == ReduceKind::min))
    x = b.cast(b.reduce(kind, b.cast(x, b.b.getIntegerType(8, false)), r.axes, r.keepdims), b.i1);
  else
    x = b.reduce(kind, x, r.axes, r.keepdims);
  n.set(0, x);
}

/// Imports a reduction that is a sum between two elementwise functions: after(sum(before(x))).
template <Value (*before)(Build &, Value), Value (*after)(Build &, Value)>
void reduceTransformedSum(Node &n, Build &b) {
  ReductionOptions r = readReduction(n, b);
  n.set(0, after(b, b.reduce(ReduceKind::sum, before(b, n.in(0)), r.axes, r.keepdims)));
}

Value same(Build &, Value x) { return x; }
Value absolute(Build &b, Value x) { return b.unary<AbsOp>(x); }
Value square(Build &b, Value x) { return b.mul(x, x); }
Value buildSqrt(Build &b, Value x) {
  Type element = b.elem(x);
  return b.isFloat(x) ? b.unary<SqrtOp>(x) : b.cast(b.unary<SqrtOp>(b.cast(x, b.f64)), element);
}
Value buildLog(Build &b, Value x) {
  Type element = b.elem(x);
  return b.isFloat(x) ? b.unary<LogOp>(x) : b.cast(b.unary<LogOp>(b.cast(x, b.f64)), element);
}

/// ReduceLogSumExp: max + log(sum(e^(x - max))). An infinite maximum is not subtracted, because
/// infinity - infinity is NaN.
void logSumExp(Node &n, Build &b) {
  ReductionOptions r = readReduction(n, b);
  Value x = n.in(0);
  Type element = b.elem(x);
  if (r.axes.empty())
    return n.set(0, x);
  if (!b.isFloat(x))
    x = b.cast(x, b.f64);
  if (b.count(x) == 0) {
    Value sum = b.reduce(ReduceKind::sum, b.unary<ExpOp>(x), r.axes, r.keepdims);
    return n.set(0, b.cast(b.unary<LogOp>(sum), element));
  }
  Value top = b.reduce(ReduceKind::max, x, r.axes, true);
  top = b.select(b.op<IsInfOp>({top}), b.like(top, 0), top);
  Value sum = b.reduce(ReduceKind::sum, b.unary<ExpOp>(b.sub(x, top)), r.axes, true);
  Value result = b.add(b.unary<LogOp>(sum), top);
  if (!r.keepdims) {
    Dims shape;
    for (int64_t i = 0; i < b.rank(x); ++i)
      if (!llvm::is_contained(r.axes, i))
        shape.push_back(b.shape(x)[i]);
    result = b.reshape(result, shape);
  }
  n.set(0, b.cast(result, element));
}

template <ReduceKind kind> void arg(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(x));
  SmallVector<NamedAttribute> attributes{b.attr("kind", ReduceKindAttr::get(b.context, kind)),
                                         b.attr("axis", axis)};
  if (n.integer("keepdims", 1))
    attributes.push_back(b.attrUnit("keepdims"));
  if (n.integer("select_last_index", 0))
    attributes.push_back(b.attrUnit("last"));
  n.set(0, b.op<ArgReduceOp>({x}, attributes));
}

template <ReduceKind kind> void cumulativeReduction(Node &n, Build &b) {
  int64_t axis = b.axis(b.needInt(n.in(1), "the axis"), b.rank(n.in(0)));
  SmallVector<NamedAttribute> attributes{b.attr("kind", ReduceKindAttr::get(b.context, kind)),
                                         b.attr("axis", axis)};
  if (n.integer("exclusive", 0))
    attributes.push_back(b.attrUnit("exclusive"));
  if (n.integer("reverse", 0))
    attributes.push_back(b.attrUnit("reverse"));
  n.set(0, b.op<CumulativeOp>({n.in(0)}, attributes));
}

void topK(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", -1), b.rank(x));
  if (!b.require(n.opset < 10 || b.rank(n.in(1)) == 1,
                 "K must be a vector; required: rank 1; found: rank " + Twine(b.rank(n.in(1))) +
                     "; reshape the tensor"))
    return;
  int64_t k = n.opset >= 10 ? b.needInt(n.in(1), "k") : n.integer("k", 0);
  auto both = b.ops<TopKOp>({x}, {b.attr("k", k), b.attr("axis", axis),
                                  b.attr("largest", b.b.getBoolAttr(n.integer("largest", 1))),
                                  b.attr("sorted", b.b.getBoolAttr(n.integer("sorted", 1)))});
  if (both.size() != 2)
    return;
  n.set(0, both[0]);
  n.set(1, both[1]);
}

const Operator table[] = {
    {"ReduceSum", reduceByKind<ReduceKind::sum>},
    {"ReduceMean", reduceByKind<ReduceKind::mean>},
    {"ReduceMax", reduceByKind<ReduceKind::max>},
    {"ReduceMin", reduceByKind<ReduceKind::min>},
    {"ReduceProd", reduceByKind<ReduceKind::prod>},
    {"ReduceL1", reduceTransformedSum<absolute, same>},
    {"ReduceL2", reduceTransformedSum<square, buildSqrt>},
    {"ReduceSumSquare", reduceTransformedSum<square, same>},
    {"ReduceLogSum", reduceTransformedSum<same, buildLog>},
    {"ReduceLogSumExp", logSumExp},
    {"ArgMax", arg<ReduceKind::max>},
    {"ArgMin", arg<ReduceKind::min>},
    {"CumSum", cumulativeReduction<ReduceKind::sum>},
    {"CumProd", cumulativeReduction<ReduceKind::prod>},
    {"TopK", topK},
};

} // namespace

ArrayRef<Operator> reduceOperators() { return table; }

} // namespace dlc::onnxfront

//===- Scatter.cpp - scatter operators ------------------------------------===//
#include "frontend/aten/math/Axis.h"
#include "frontend/aten/shape/Index.h"

using namespace mlir;

namespace dlc::aten {
namespace {

NamedAttribute reductionAttribute(Build &b, ScatterReduction kind) {
  return b.attr("reduction", ScatterReductionAttr::get(b.context, kind));
}

/// Operands of a scatter along the dimension `axis`. A 0-d x is reshaped to one dimension.
struct ScatterOperands {
  Value x, index, updates;
  int64_t axis;
};

/// Reads the operands of a scatter. Updates beyond the shape of the index tensor are ignored.
ScatterOperands readScatterOperands(Node &n, Build &b, Value updates) {
  Value x = n.tensor("self"), index = n.tensor("index");
  if (b.rank(x) == 0) {
    x = b.reshape(x, {1});
    index = b.reshape(index, {b.count(index)});
    updates = b.reshape(updates, {b.count(updates)});
  }
  if (b.rank(updates) == 0)
    updates = b.broadcast(updates, b.shape(index));
  else if (b.rank(updates) == b.rank(index))
    updates = b.slice(updates, Dims(size_t(b.rank(index)), 0), b.dims(index),
                      Dims(size_t(b.rank(index)), 1));
  return {x, index, updates, n.axis("dim", b.rank(x))};
}

Value buildScatter(Build &b, const ScatterOperands &w, Value x, Value updates,
                   ScatterReduction kind) {
  return b.op<ScatterElementsOp>({x, w.index, updates},
                                 {b.attr("axis", w.axis), reductionAttribute(b, kind)});
}

void scatterUpdates(Node &n, Build &b, Value updates, ScatterReduction kind) {
  ScatterOperands w = readScatterOperands(n, b, updates);
  n.set(b.reshape(buildScatter(b, w, w.x, w.updates, kind), b.dims(n.tensor("self"))));
}

void scatterSource(Node &n, Build &b) {
  scatterUpdates(n, b, n.tensor("src"), ScatterReduction::none);
}

void scatterValue(Node &n, Build &b) {
  scatterUpdates(n, b, n.operand("value", n.resultElement()), ScatterReduction::none);
}

void scatterAdd(Node &n, Build &b) { scatterUpdates(n, b, n.tensor("src"), ScatterReduction::add); }

ScatterReduction parseReduction(StringRef kind) {
  return kind == "sum" || kind == "add" || kind == "mean" ? ScatterReduction::add
         : kind == "prod" || kind == "multiply"           ? ScatterReduction::mul
         : kind == "amax"                                 ? ScatterReduction::max
                                                          : ScatterReduction::min;
}

template <bool isNumber> void scatterWithReduction(Node &n, Build &b) {
  scatterUpdates(n, b, isNumber ? n.operand("value", n.resultElement()) : n.tensor("src"),
                 parseReduction(n.text("reduce")));
}

/// Returns the identity element of a reduction as a scalar of x's type.
Value reductionIdentity(Build &b, ScatterReduction kind, Value x) {
  Type element = b.elem(x);
  if (kind == ScatterReduction::add || kind == ScatterReduction::mul)
    return b.scalarInt(element, kind == ScatterReduction::mul);
  bool isLow = kind == ScatterReduction::max;
  if (isa_and_nonnull<FloatType>(element))
    return b.like(x, isLow ? -std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::infinity());
  unsigned width = element ? element.getIntOrFloatBitWidth() : 1;
  bool isSigned = element && !element.isUnsignedInteger() && width > 1;
  APInt bound = isSigned
                    ? (isLow ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width))
                    : (isLow ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return b.scalarInt(element, isSigned ? bound.getSExtValue() : int64_t(bound.getZExtValue()));
}

/// scatter_reduce. `include_self` determines whether the original elements of x are included in the
/// reduction at the indices that are written. A mean is a sum divided by the count.
void setScatterReduction(Node &n, Build &b, const ScatterOperands &w, StringRef name) {
  ScatterReduction kind = parseReduction(name);
  bool isMean = name == "mean", counts = n.flag("include_self", true);
  Value x = w.x;
  auto filled = [&](Value v, Value with) {
    return buildScatter(b, w, v, b.broadcast(with, b.shape(w.index)), ScatterReduction::none);
  };
  if (!counts)
    x = filled(x, reductionIdentity(b, kind, x));
  Value y = buildScatter(b, w, x, w.updates, kind);
  if (isMean) {
    Type counter = b.isFloat(x) ? b.elem(b.widen(x)) : b.elem(x);
    Value number = b.splat(counter, b.shape(x), 1), one = b.scalarInt(counter, 1);
    if (!counts)
      number = filled(number, b.scalarInt(counter, 0));
    number = buildScatter(b, w, number, b.broadcast(one, b.shape(w.index)), ScatterReduction::add);
    Value wide = b.cast(y, counter);
    // Means of integers are rounded down: the remainder is subtracted before the division.
    if (!b.isFloat(y))
      wide = b.sub(wide, b.rem(wide, number));
    y = b.cast(b.div(wide, number), b.elem(y));
  }
  n.set(b.reshape(y, b.dims(n.tensor("self"))));
}

void scatterReduce(Node &n, Build &b) {
  setScatterReduction(n, b, readScatterOperands(n, b, n.tensor("src")), n.text("reduce"));
}

/// index_reduce: reduces slices of the source into the slices of x along a dimension. There is one
/// index per slice.
void indexReduce(Node &n, Build &b) {
  Value x = n.tensor("self"), source = n.tensor("source"), index = n.tensor("index");
  if (b.rank(x) == 0) {
    x = b.reshape(x, {1});
    source = b.reshape(source, {b.count(source)});
  }
  int64_t axis = n.axis("dim", b.rank(x));
  Dims line(size_t(b.rank(x)), 1);
  line[size_t(axis)] = b.count(index);
  index = b.broadcast(b.reshape(index, line), b.shape(source));
  setScatterReduction(n, b, {x, index, source, axis}, n.text("reduce"));
}

/// Exclusive count: for each true element of a flattened mask, returns the number of true elements
/// that precede it.
Value countPrecedingTrue(Build &b, Value mask) {
  Value running =
      b.op<CumulativeOp>({b.cast(b.flatten(mask), b.i64)},
                         {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::sum)),
                          b.attr("axis", int64_t(0))});
  return b.sub(running, b.scalarInt(b.i64, 1));
}

/// masked_scatter: writes the source's elements in order where the mask is true.
void maskedScatter(Node &n, Build &b) {
  Value x = n.tensor("self"), mask = n.tensor("mask"), source = n.tensor("source");
  if (!n.result() || b.count(source) == 0)
    return n.set(x);
  Dims shape = n.result().getShape().vec();
  x = b.broadcast(x, shape);
  mask = b.broadcast(b.cast(mask, b.i1), shape);
  Value place = b.max(b.min(countPrecedingTrue(b, mask), b.scalarInt(b.i64, b.count(source) - 1)),
                      b.scalarInt(b.i64, 0));
  n.set(b.select(mask, b.reshape(b.gather(b.flatten(source), place, 0), shape), x));
}

/// Gradient of masked_scatter with respect to the source: the elements of dy where the mask is
/// true, in order, followed by zeros.
void maskedScatterGradient(Node &n, Build &b) {
  Value dy = n.tensor("grad_output"), mask = b.cast(n.tensor("mask"), b.i1);
  if (!n.result() || !b.ok())
    return;
  int64_t count = n.result().getNumElements();
  mask = b.broadcast(mask, b.shape(dy));
  // Elements where the mask is false are written to an additional element at the end, which is cut
  // off.
  Value end = b.scalarInt(b.i64, count);
  Value place = b.select(b.flatten(mask), b.min(countPrecedingTrue(b, mask), end), end);
  Value dx = b.op<ScatterElementsOp>(
      {b.splat(b.elem(dy), {count + 1}, 0), place, b.flatten(dy)},
      {b.attr("axis", int64_t(0)), reductionAttribute(b, ScatterReduction::none)});
  n.set(b.reshape(b.sliceAxis(dx, 0, 0, count), n.result().getShape()));
}

/// put: writes values at indices into the flattened tensor.
void put(Node &n, Build &b) {
  Value x = n.tensor("self"), index = b.flatten(n.tensor("index"));
  Value size = b.scalarInt(b.i64, b.count(x));
  index =
      b.select(b.compare(Predicate::lt, index, b.scalarInt(b.i64, 0)), b.add(index, size), index);
  auto kind = n.flag("accumulate") ? ScatterReduction::add : ScatterReduction::none;
  Value y = b.op<ScatterElementsOp>({b.flatten(x), index, b.flatten(n.tensor("source"))},
                                    {b.attr("axis", int64_t(0)), reductionAttribute(b, kind)});
  n.set(b.reshape(y, b.dims(x)));
}

/// Adds the slices along an axis that have the same index. Returns null unless the index is a
/// constant and few slices share an index.
Value sumSlicesByIndex(Build &b, Value values, Value index, int64_t axis, int64_t size) {
  auto known = b.known(index);
  if (!known)
    return {};
  std::vector<ResampleWeight> shares;
  for (int64_t i = 0; i < b.count(index); ++i) {
    int64_t to = known->getInt(i);
    to += to < 0 ? size : 0;
    if (to < 0 || to >= size)
      return {};
    shares.push_back({to, i, 1});
  }
  return resampleByGathers(b, values, axis, size, shares);
}

/// index_put with accumulation and separable indices: adds along one dimension after the other.
/// Returns false if that is not possible.
bool putSeparable(Node &n, Build &b, Value x) {
  auto each = readSeparableIndexing(n, b, x);
  Value sum = n.tensor("values");
  if (!n.flag("accumulate") || !each || !b.isFloat(x) || b.rank(sum) != b.rank(x))
    return false;
  for (auto [index, axis] : each->indices)
    if (b.dim(sum, axis) != b.count(index))
      return false;
  sum = b.widen(sum);
  for (auto [index, axis] : llvm::reverse(each->indices))
    if (!(sum = sumSlicesByIndex(b, sum, index, axis, b.dim(x, axis))))
      return false;
  n.set(b.cast(b.add(b.widen(x), b.cast(sum, b.elem(b.widen(x)))), b.elem(x)));
  return b.ok();
}

/// index_put with a single bool mask of the leading dimensions as the index: where the mask is
/// true, the values are written in order, or a single value is broadcast. Returns false for other
/// indices.
bool putMasked(Node &n, Build &b, Value x) {
  std::vector<Value> given = n.tensors("indices");
  if (given.size() != 1 || !given[0] || !b.isBool(given[0]))
    return false;
  Value mask = given[0], values = b.cast(n.tensor("values"), b.elem(x));
  Dims shape = b.dims(x), rows{b.count(mask)};
  size_t leading = size_t(b.rank(mask));
  if (b.rank(values) > int64_t(1 + shape.size() - leading))
    return false;
  Dims wide = b.dims(mask);
  wide.resize(shape.size(), 1);
  rows.insert(rows.end(), shape.begin() + leading, shape.end());
  if (b.rank(values) == int64_t(rows.size()) && b.dim(values, 0) != 1) {
    // If no mask element is true, the list of values may be empty.
    if (b.dim(values, 0) == 0) {
      n.set(x);
      return true;
    }
    Value place =
        b.max(b.min(countPrecedingTrue(b, mask), b.scalarInt(b.i64, b.dim(values, 0) - 1)),
              b.scalarInt(b.i64, 0));
    values = b.gather(values, place, 0);
  }
  values = b.reshape(b.broadcast(values, rows), shape);
  mask = b.broadcast(b.reshape(mask, wide), shape);
  n.set(b.select(mask, n.flag("accumulate") ? b.add(x, values) : values, x));
  return true;
}

void indexPut(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (putSeparable(n, b, x) || putMasked(n, b, x))
    return;
  AdvancedIndexing at = readAdvancedIndexing(n, b, x);
  if (!b.ok())
    return;
  Value moved = b.transpose(x, at.order), values = b.cast(n.tensor("values"), b.elem(x));
  Dims rest, shape;
  for (size_t i = at.axes.size(); i < at.order.size(); ++i)
    rest.push_back(b.dim(x, at.order[i]));
  // The values are broadcast to the shape of x[indices], in which the dimensions of the index
  // tensors replace the indexed dimensions.
  shape.assign(rest.begin(), rest.begin() + at.place);
  shape.insert(shape.end(), at.shape.begin(), at.shape.end());
  shape.insert(shape.end(), rest.begin() + at.place, rest.end());
  values = b.broadcast(values, shape);
  Dims order, back(at.order.size());
  int64_t wide = int64_t(at.shape.size());
  for (int64_t i = 0; i < wide; ++i)
    order.push_back(at.place + i);
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (i < at.place || i >= at.place + wide)
      order.push_back(i);
  Value y =
      b.op<ScatterNdOp>({moved, at.tuples, b.transpose(values, order)},
                        {reductionAttribute(b, n.flag("accumulate") ? ScatterReduction::add
                                                                    : ScatterReduction::none)});
  for (auto [to, from] : llvm::enumerate(at.order))
    back[size_t(from)] = int64_t(to);
  n.set(b.transpose(y, back));
}

const Operator table[] = {
    {"scatter.src", scatterSource},
    {"scatter.value", scatterValue},
    {"scatter.reduce", scatterWithReduction<false>},
    {"scatter.value_reduce", scatterWithReduction<true>},
    {"scatter_add.default", scatterAdd},
    {"scatter_reduce.two", scatterReduce},
    {"index_reduce.default", indexReduce},
    {"index_put.default", indexPut},
    {"_unsafe_index_put.default", indexPut},
    {"masked_scatter.default", maskedScatter},
    {"masked_scatter_backward.default", maskedScatterGradient},
    {"put.default", put},
};

} // namespace

ArrayRef<Operator> scatterOperators() { return table; }

} // namespace dlc::aten

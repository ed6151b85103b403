//===- Scatter.cpp - writing at computed places ---------------------------===//
#include "frontend/aten/Axis.h"
#include "frontend/aten/Index.h"

using namespace mlir;

namespace dlc::aten {
namespace {

NamedAttribute reduction(Build &b, ScatterReduction kind) {
  return b.attr("reduction", ScatterReductionAttr::get(b.context, kind));
}

/// Only as many updates as there are indices count.
void scatterOf(Node &n, Build &b, Value updates, ScatterReduction kind) {
  Value x = n.tensor("self"), index = n.tensor("index");
  Dims shape = b.dims(x);
  if (b.rank(x) == 0) {
    x = b.reshape(x, {1});
    index = b.reshape(index, {b.count(index)});
    updates = b.reshape(updates, {b.count(updates)});
  }
  int64_t axis = n.axis("dim", b.rank(x));
  if (b.rank(updates) == 0)
    updates = b.broadcast(updates, b.shape(index));
  else if (b.rank(updates) == b.rank(index))
    updates = b.slice(updates, Dims(size_t(b.rank(index)), 0), b.dims(index),
                      Dims(size_t(b.rank(index)), 1));
  Value y =
      b.op<ScatterElementsOp>({x, index, updates}, {b.attr("axis", axis), reduction(b, kind)});
  n.set(b.reshape(y, shape));
}

void scatterSource(Node &n, Build &b) { scatterOf(n, b, n.tensor("src"), ScatterReduction::none); }

void scatterValue(Node &n, Build &b) {
  scatterOf(n, b, n.operand("value", n.resultElement()), ScatterReduction::none);
}

void scatterAdd(Node &n, Build &b) { scatterOf(n, b, n.tensor("src"), ScatterReduction::add); }

void scatterReduce(Node &n, Build &b) {
  std::string kind = n.text("reduce");
  if (!b.require(n.flag("include_self", true) && kind != "mean",
                 "required: include_self and a reduction other than mean"))
    return;
  scatterOf(n, b, n.tensor("src"),
            kind == "sum"    ? ScatterReduction::add
            : kind == "prod" ? ScatterReduction::mul
            : kind == "amax" ? ScatterReduction::max
                             : ScatterReduction::min);
}

/// The slices of a dimension whose index is the same, added, with indices that are known and meet
/// seldom. Null where it is another case.
Value sumAlong(Build &b, Value values, Value index, int64_t axis, int64_t size) {
  auto known = b.known(index);
  if (!known)
    return {};
  std::vector<Share> shares;
  for (int64_t i = 0; i < b.count(index); ++i) {
    int64_t to = known->getInt(i);
    to += to < 0 ? size : 0;
    if (to < 0 || to >= size)
      return {};
    shares.push_back({to, i, 1});
  }
  return summed(b, values, axis, size, shares);
}

/// Adds to one dimension after the other; false where that is not possible.
bool addApart(Node &n, Build &b, Value x) {
  auto each = apart(n, b, x);
  Value sum = n.tensor("values");
  if (!n.flag("accumulate") || !each || !b.isFloat(x) || b.rank(sum) != b.rank(x))
    return false;
  for (auto [index, axis] : each->indices)
    if (b.dim(sum, axis) != b.count(index))
      return false;
  sum = b.widen(sum);
  for (auto [index, axis] : llvm::reverse(each->indices))
    if (!(sum = sumAlong(b, sum, index, axis, b.dim(x, axis))))
      return false;
  n.set(b.cast(b.add(b.widen(x), b.cast(sum, b.elem(b.widen(x)))), b.elem(x)));
  return b.ok();
}

void indexPut(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (addApart(n, b, x))
    return;
  Indexed at = indexedOf(n, b, x);
  if (!b.ok())
    return;
  Value moved = b.transpose(x, at.order), values = b.cast(n.tensor("values"), b.elem(x));
  Dims rest, shape;
  for (size_t i = at.axes.size(); i < at.order.size(); ++i)
    rest.push_back(b.dim(x, at.order[i]));
  // The values stand as x[indices] does: the indexed dimensions in their place.
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
  Value y = b.op<ScatterNdOp>(
      {moved, at.tuples, b.transpose(values, order)},
      {reduction(b, n.flag("accumulate") ? ScatterReduction::add : ScatterReduction::none)});
  for (auto [to, from] : llvm::enumerate(at.order))
    back[size_t(from)] = int64_t(to);
  n.set(b.transpose(y, back));
}

const Operator table[] = {
    {"scatter.src", scatterSource},      {"scatter.value", scatterValue},
    {"scatter_add.default", scatterAdd}, {"scatter_reduce.two", scatterReduce},
    {"index_put.default", indexPut},     {"_unsafe_index_put.default", indexPut},
};

} // namespace

ArrayRef<Operator> scatterOperators() { return table; }

} // namespace dlc::aten

//===- Scatter.cpp - writing at computed places ---------------------------===//
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

void indexPut(Node &n, Build &b) {
  Value x = n.tensor("self");
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

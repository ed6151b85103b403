//===- Gather.cpp - gather, index and embedding ---------------------------===//
#include "frontend/aten/Gradient.h"
#include "frontend/aten/shape/Index.h"

using namespace mlir;

namespace dlc::aten {

AdvancedIndexing readAdvancedIndexing(Node &n, Build &b, Value x) {
  AdvancedIndexing result;
  std::vector<Value> given = n.tensors("indices"), indices;
  Dims rest;
  if (!b.require(int64_t(given.size()) <= b.rank(x),
                 "argument 'indices': required: at most one index for each dimension"))
    return result;
  for (int64_t i = 0; i < b.rank(x); ++i) {
    Value index = i < int64_t(given.size()) ? given[size_t(i)] : Value();
    if (!index) {
      rest.push_back(i);
      continue;
    }
    if (!b.require(!b.isBool(index) && !b.elem(index).isUnsignedInteger(),
                   "a boolean index has a result shape that depends on its values; required: "
                   "static shapes"))
      return result;
    result.axes.push_back(i);
    indices.push_back(b.cast(index, b.i64));
  }
  if (!b.require(!indices.empty(), "argument 'indices': required: an index"))
    return result;
  for (Value index : indices) {
    Dims shape = b.dims(index);
    Dims &met = result.shape;
    if (met.size() < shape.size())
      met.insert(met.begin(), shape.size() - met.size(), 1);
    size_t offset = met.size() - shape.size();
    for (size_t d = 0; d < shape.size(); ++d)
      if (met[offset + d] == 1)
        met[offset + d] = shape[d];
  }
  for (Value &index : indices)
    index = b.broadcast(index, result.shape);
  result.tuples = b.stack(indices, int64_t(result.shape.size()));
  result.order = result.axes;
  result.order.insert(result.order.end(), rest.begin(), rest.end());
  bool adjacent = result.axes.back() - result.axes.front() + 1 == int64_t(result.axes.size());
  result.place = adjacent ? result.axes.front() : 0;
  return result;
}

std::optional<SeparableIndexing> readSeparableIndexing(Node &n, Build &b, Value x) {
  std::vector<Value> given = n.tensors("indices");
  SeparableIndexing result;
  int64_t rank = 0;
  for (size_t axis = 0; axis < given.size(); ++axis)
    if (Value index = given[axis]) {
      if (b.isBool(index) || b.elem(index).isUnsignedInteger() ||
          (!result.indices.empty() && result.indices.back().second + 1 != int64_t(axis)))
        return std::nullopt;
      rank = std::max(rank, b.rank(index));
      result.indices.push_back({index, int64_t(axis)});
    }
  if (result.indices.size() < 2 || rank != int64_t(result.indices.size()))
    return std::nullopt;
  for (size_t own = 0; own < result.indices.size(); ++own) {
    Value &index = result.indices[own].first;
    int64_t offset = rank - b.rank(index);
    for (int64_t d = 0; d < b.rank(index); ++d)
      if (d + offset != int64_t(own) && b.dim(index, d) != 1)
        return std::nullopt;
    index = b.cast(b.flatten(index), b.i64);
  }
  return result;
}

namespace {

void index(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (auto each = readSeparableIndexing(n, b, x)) {
    for (auto [one, axis] : each->indices)
      x = b.gather(x, one, axis);
    return n.set(x);
  }
  AdvancedIndexing at = readAdvancedIndexing(n, b, x);
  if (!b.ok())
    return;
  int64_t wide = int64_t(at.shape.size());
  if (at.axes.size() == 1) {
    Value only = b.reshape(at.tuples, at.shape);
    return n.set(b.gather(x, only, at.axes[0]));
  }
  Value y = b.gatherNd(b.transpose(x, at.order), at.tuples);
  // Permutes the result: the dimensions of the index tensors are moved from the front to the
  // position of the indexed dimensions.
  Dims order;
  for (int64_t i = 0; i < at.place; ++i)
    order.push_back(wide + i);
  for (int64_t i = 0; i < wide; ++i)
    order.push_back(i);
  for (int64_t i = wide + at.place; i < b.rank(y); ++i)
    order.push_back(i);
  n.set(b.transpose(y, order));
}

void indexSelect(Node &n, Build &b) {
  Value x = n.tensor("self"), index = n.tensor("index");
  if (b.rank(x) == 0)
    return n.set(x);
  n.set(b.gather(x, b.rank(index) ? index : b.reshape(index, {1}), n.axis("dim", b.rank(x))));
}

/// gather along one dimension. In the other dimensions, the indices may be smaller than x.
void gather(Node &n, Build &b) {
  Value x = n.tensor("self"), index = n.tensor("index");
  Dims shape = b.dims(index);
  if (b.rank(x) == 0 || b.rank(index) == 0) {
    x = b.reshape(x, {b.count(x)});
    index = b.reshape(index, {b.count(index)});
  }
  int64_t axis = n.axis("dim", b.rank(x));
  n.set(b.reshape(b.op<GatherElementsOp>({x, index}, {b.attr("axis", axis)}), shape));
}

/// Embedding lookup. In a training step the row `padding_idx` gets no gradient. -1 means that there
/// is no such row, as in PyTorch.
void embedding(Node &n, Build &b) {
  Value indices = n.tensor("indices"), rows = b.gather(n.tensor("weight"), indices, 0);
  int64_t padding = b.training ? n.integer("padding_idx", -1) : -1;
  if (padding >= 0 && b.ok()) {
    Value isPadding = b.compare(Predicate::eq, indices, b.scalarInt(b.elem(indices), padding));
    rows = b.select(b.expandDims(isPadding, b.rank(indices)), stopGradient(b, rows), rows);
  }
  n.set(rows);
}

const Operator table[] = {
    {"index.Tensor", index},
    {"_unsafe_index.Tensor", index},
    {"index_select.default", indexSelect},
    {"gather.default", gather},
    {"embedding.default", embedding},
};

} // namespace

ArrayRef<Operator> gatherOperators() { return table; }

} // namespace dlc::aten

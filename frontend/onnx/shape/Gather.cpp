//===- Gather.cpp - gather and scatter operators --------------------------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Casts indices to i32 or i64. Reports an error for constant indices that are out of range. The
/// last dimension of the indices contains one component per entry of `extents`, the sizes of the
/// indexed dimensions.
static Value castIndices(Build &b, Value v, ArrayRef<int64_t> extents) {
  if (auto constant = b.known(v))
    for (int64_t i = 0; i < constant->size(); ++i) {
      int64_t index = constant->getInt(i), extent = extents[size_t(i) % extents.size()];
      if (!b.require(index >= -extent && index < extent,
                     "index " + Twine(index) + " is out of range: the dimension has " +
                         Twine(extent) + " elements"))
        return {};
    }
  return v && (b.elem(v) == b.i32 || b.elem(v) == b.i64) ? v : b.cast(v, b.i64);
}

/// Checks and casts indices into one axis of x.
static Value castAxisIndices(Build &b, Value x, Value indices, int64_t axis) {
  return b.ok() && b.rank(x) > axis ? castIndices(b, indices, {b.shape(x)[axis]}) : indices;
}

Value gatherAlong(Build &b, Value x, Value indices, int64_t axis) {
  return b.gather(x, castAxisIndices(b, x, indices, axis), axis);
}

namespace {

/// Checks and casts index tuples, which are the last dimension of `indices`. They refer to the
/// dimensions of x from `batch` on.
Value castIndexTuples(Build &b, Value x, Value indices, int64_t batch) {
  int64_t depth = b.rank(indices) ? b.dim(indices, -1) : 0;
  if (!b.ok() || !b.require(batch >= 0 && depth > 0 && batch + depth <= b.rank(x),
                            "the indices' last dimension, " + Twine(depth) +
                                ", must be from 1 to the number of dimensions that are left, " +
                                Twine(b.rank(x) - batch)))
    return {};
  return castIndices(b, indices, b.shape(x).slice(size_t(batch), size_t(depth)));
}

void gather(Node &n, Build &b) {
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  n.set(0, gatherAlong(b, n.in(0), n.in(1), axis));
}

void gatherElements(Node &n, Build &b) {
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  n.set(0, b.op<GatherElementsOp>({n.in(0), castAxisIndices(b, n.in(0), n.in(1), axis)},
                                  {b.attr("axis", axis)}));
}

void gatherNd(Node &n, Build &b) {
  int64_t batch = n.integer("batch_dims", 0);
  n.set(0, b.gatherNd(n.in(0), castIndexTuples(b, n.in(0), n.in(1), batch), batch));
}

std::optional<ScatterReduction> readScatterReduction(Node &n) {
  std::string name = n.string("reduction", "none");
  if (auto reduction = symbolizeScatterReduction(name))
    return reduction;
  n.unsupported("reduction", name, "none, add, mul, max, min");
  return std::nullopt;
}

void scatterElements(Node &n, Build &b) {
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  for (int64_t i = 0; b.rank(n.in(1)) == b.rank(n.in(0)) && i < b.rank(n.in(0)); ++i)
    if (!b.require(i == axis || b.dim(n.in(1), i) <= b.dim(n.in(0), i),
                   "the indices exceed the data; required: at most " + Twine(b.dim(n.in(0), i)) +
                       " in dimension " + Twine(i) + "; found: " + Twine(b.dim(n.in(1), i)) +
                       "; correct the indices"))
      return;
  if (auto reduction = readScatterReduction(n))
    n.set(0, b.scatter(n.in(0), castAxisIndices(b, n.in(0), n.in(1), axis), n.in(2), axis,
                       *reduction));
}

void scatterNd(Node &n, Build &b) {
  if (auto reduction = readScatterReduction(n))
    n.set(0, b.op<ScatterNdOp>(
                 {n.in(0), castIndexTuples(b, n.in(0), n.in(1), 0), n.in(2)},
                 {b.attr("reduction", ScatterReductionAttr::get(b.context, *reduction))}));
}

/// TensorScatter: writes updates to consecutive positions along one axis, from a separate start
/// index for each batch element on.
void tensorScatter(Node &n, Build &b) {
  Value cache = n.in(0), update = n.in(1);
  std::string mode = n.string("mode", "linear");
  int64_t rank = b.rank(cache), axis = b.axis(n.integer("axis", -2), rank);
  if (mode != "linear" && mode != "circular")
    return n.unsupported("mode", mode, "linear, circular");
  if (!b.ok() || !b.require(b.rank(update) == rank && axis > 0,
                            "the update must have the cache's rank, and the axis "
                            "must not be the batch"))
    return;
  Value index = b.iota(b.i64, b.shape(update), axis);
  if (n.has(2)) {
    Dims perBatch(rank, 1);
    perBatch[0] = b.dim(n.in(2), 0);
    index = b.add(index, b.reshape(b.cast(n.in(2), b.i64), perBatch));
  }
  if (mode == "circular")
    index = b.rem(index, b.scalarInt(b.i64, b.dim(cache, axis)));
  n.set(0, b.scatter(cache, index, update, axis));
}

void oneHot(Node &n, Build &b) {
  Value index = b.cast(n.in(0), b.i64), values = n.in(2);
  auto depthTensor = b.need(n.in(1), "the depth");
  int64_t rank = b.rank(index) + 1, axis = b.axis(n.integer("axis", -1), rank);
  if (!b.ok() || !b.require(depthTensor->size() == 1 && b.count(values) == 2,
                            "the depth must have one element, and the values two"))
    return;
  double given = depthTensor->getDouble(0);
  int64_t depth = given >= 0 && given < double(Build::countLimit) ? int64_t(given) : -1;
  if (!b.require(depth >= 0, "the depth must not be negative"))
    return;
  Value wrapped = b.select(b.compare(Predicate::lt, index, b.like(index, 0)),
                           b.add(index, double(depth)), index);
  Dims shape = b.dims(index);
  shape.insert(shape.begin() + axis, depth);
  Value hit = b.compare(Predicate::eq, b.expandDims(wrapped, axis), b.iota(b.i64, shape, axis));
  values = b.flatten(values);
  n.set(0, b.select(hit, b.at(values, 0, 1), b.at(values, 0, 0)));
}

const Operator table[] = {
    {"Gather", gather},           {"GatherElements", gatherElements},
    {"GatherND", gatherNd},       {"GatherND", 2, gatherNd, "", microsoft},
    {"Scatter", scatterElements}, {"ScatterElements", scatterElements},
    {"ScatterND", scatterNd},     {"TensorScatter", tensorScatter},
    {"OneHot", oneHot},
};

} // namespace

ArrayRef<Operator> gatherOperators() { return table; }

} // namespace dlc::onnxfront

//===- Bag.cpp - embedding_bag: sums, means and maxima of bags of embeddings --===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

enum Mode : int64_t { Sum, Mean, Max };

/// Scatters the rows of `updates` into x at the row indices `rows` [n], combined by the reduction
/// `kind`.
Value scatterRows(Build &b, Value x, Value rows, Value updates, ScatterReduction kind) {
  return b.op<ScatterNdOp>({x, b.expandDims(rows, 1), updates},
                           {b.attr("reduction", ScatterReductionAttr::get(b.context, kind))});
}

/// Histogram of row indices: counts how often each index below `count` occurs in `rows`. Only
/// occurrences whose element of `counts` is set are counted.
Value countIndices(Build &b, Value rows, Value counts, int64_t count) {
  return scatterRows(b, b.splat(b.i64, {count}, 0), rows, b.cast(counts, b.i64),
                     ScatterReduction::add);
}

/// Returns the bag number of each position in the list of indices: the number of bags that begin at
/// or before the position, minus one.
Value computeBagNumbers(Build &b, Value offsets, int64_t indices) {
  Value ones = b.splat(b.i64, {b.count(offsets)}, 1);
  Value begun = countIndices(b, offsets, ones, indices + 1);
  begun = b.op<CumulativeOp>({b.sliceAxis(begun, 0, 0, indices)},
                             {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::sum)),
                              b.attr("axis", int64_t(0))});
  return b.sub(begun, b.scalarInt(b.i64, 1));
}

/// Returns a bool mask that is true for the indices that are not padding (`padding_idx`).
Value buildNonPaddingMask(Node &n, Build &b, Value indices) {
  int64_t padding = n.integer("padding_idx", -1);
  return padding < 0 ? b.splat(b.i1, b.shape(indices), 1)
                     : b.compare(Predicate::ne, indices, b.scalarInt(b.i64, padding));
}

/// Reshapes a vector [n] to [n, 1], so that it broadcasts to `reference` [n, D], and casts it to
/// the element type of `reference`.
Value reshapeToColumn(Build &b, Value v, Value reference) {
  return b.expandDims(b.cast(v, b.elem(reference)), 1);
}

struct EmbeddingBags {
  Value indices, counts, of;
  int64_t mode = Sum, number = 0;
};

EmbeddingBags readEmbeddingBags(Node &n, Build &b) {
  EmbeddingBags bags;
  bags.indices = b.cast(n.tensor("indices"), b.i64);
  Value offsets = b.cast(n.tensor("offsets"), b.i64);
  bags.mode = n.integer("mode", 0);
  if (!b.require(!n.flag("sparse"), "argument 'sparse': required: false") || !b.ok())
    return bags;
  bags.number = b.count(offsets) - (n.flag("include_last_offset") ? 1 : 0);
  if (!b.require(bags.number > 0 && b.count(bags.indices) > 0, "required: a bag and an index"))
    return bags;
  bags.counts = buildNonPaddingMask(n, b, bags.indices);
  // Indices after the end of the last bag are assigned to the last bag.
  bags.of =
      b.min(computeBagNumbers(b, b.sliceAxis(offsets, 0, 0, bags.number), b.count(bags.indices)),
            b.scalarInt(b.i64, bags.number - 1));
  return bags;
}

/// Returns the maximum of each bag in each dimension and the row that contains the maximum; zeros
/// for an empty bag. The gradient passes only to that row, even if other rows have an equal value.
std::pair<Value, Value> computeBagMaximum(Build &b, const EmbeddingBags &bags, Value rows,
                                          Value sizes) {
  int64_t count = b.dim(rows, 0), width = b.dim(rows, 1);
  Value lowest = b.like(rows, -std::numeric_limits<double>::infinity());
  Value candidates = b.select(b.expandDims(bags.counts, 1), rows, lowest);
  Value top = scatterRows(b, b.broadcast(lowest, {bags.number, width}), bags.of, candidates,
                          ScatterReduction::max);
  // Among the rows of a bag that equal the maximum, selects the first.
  Value isTop = b.both(b.expandDims(bags.counts, 1),
                       b.compare(Predicate::eq, rows, b.gather(top, bags.of, 0)));
  Value none = b.scalarInt(b.i64, count);
  Value place = b.select(isTop, b.iota(b.i64, {count, width}, 0), none);
  Value first = scatterRows(b, b.broadcast(none, {bags.number, width}), bags.of, place,
                            ScatterReduction::min);
  Value isEmpty = b.expandDims(b.compare(Predicate::eq, sizes, b.scalarInt(b.i64, 0)), 1);
  Value known = b.min(first, b.scalarInt(b.i64, count - 1));
  Value value = b.op<GatherElementsOp>({rows, known}, {b.attr("axis", int64_t(0))});
  Value nan = b.like(rows, std::numeric_limits<double>::quiet_NaN());
  value = b.select(b.unary<IsNanOp>(top), nan, value);
  return {b.select(isEmpty, b.like(rows, 0), value),
          b.select(isEmpty, b.scalarInt(b.i64, 0), b.gather(bags.indices, known, 0))};
}

void embeddingBag(Node &n, Build &b) {
  Value weight = n.tensor("weight"), share = n.tensor("per_sample_weights");
  EmbeddingBags bags = readEmbeddingBags(n, b);
  if (!b.ok())
    return;
  Value sizes = countIndices(b, bags.of, bags.counts, bags.number);
  Value rows = b.gather(b.widen(weight), bags.indices, 0), y, which;
  if (bags.mode == Max) {
    std::tie(y, which) = computeBagMaximum(b, bags, rows, sizes);
  } else {
    rows = b.select(b.expandDims(bags.counts, 1), rows, b.like(rows, 0));
    if (share)
      rows = b.mul(rows, reshapeToColumn(b, share, rows));
    y = scatterRows(b, b.splat(b.elem(rows), {bags.number, b.dim(rows, 1)}, 0), bags.of, rows,
                    ScatterReduction::add);
    if (bags.mode == Mean)
      y = b.div(y, reshapeToColumn(b, b.max(sizes, b.scalarInt(b.i64, 1)), y));
  }
  n.set(0, b.cast(y, b.elem(weight)));
  // Some tensors that PyTorch saves for the backward pass have no elements if the backward pass
  // does not need them.
  Value saved[] = {bags.of, sizes, which ? which : sizes};
  for (size_t i = 0; i < 3; ++i)
    if (n.hasResult(i + 1))
      n.set(i + 1, n.result(i + 1).getNumElements() == 0
                       ? b.splat(n.resultElement(i + 1), n.result(i + 1).getShape(), 0)
                       : b.cast(saved[i], n.resultElement(i + 1)));
}

/// Returns the bag number of each index, from `offset2bag` if the forward pass saved it.
Value readBagNumbers(Node &n, Build &b, Value indices) {
  Value of = b.cast(n.tensor("offset2bag"), b.i64);
  if (!b.ok() || b.count(of) == b.count(indices))
    return of;
  return computeBagNumbers(b, b.cast(n.tensor("offsets"), b.i64), b.count(indices));
}

void embeddingBagGradient(Node &n, Build &b) {
  Value dy = b.widen(n.tensor("grad")), share = n.tensor("per_sample_weights");
  Value indices = b.cast(n.tensor("indices"), b.i64), of = readBagNumbers(n, b, indices),
        sizes = b.cast(n.tensor("bag_size"), b.i64);
  int64_t mode = n.integer("mode"), number = n.integer("num_weights");
  if (!b.require(!n.flag("sparse"), "argument 'sparse': required: false") ||
      !b.require(Build::isSane(number, 1), "required: weights"))
    return;
  Value none = b.splat(b.elem(dy), {number, b.dim(dy, 1)}, 0);
  if (mode == Max) {
    Value isEmpty = b.expandDims(b.compare(Predicate::eq, sizes, b.scalarInt(b.i64, 0)), 1);
    Value dw = b.op<ScatterElementsOp>(
        {none, b.cast(n.tensor("maximum_indices"), b.i64), b.select(isEmpty, b.like(dy, 0), dy)},
        {b.attr("axis", int64_t(0)),
         b.attr("reduction", ScatterReductionAttr::get(b.context, ScatterReduction::add))});
    return n.set(b.cast(dw, n.resultElement()));
  }
  Value counts = buildNonPaddingMask(n, b, indices);
  if (mode == Mean)
    dy = b.div(dy, reshapeToColumn(b, b.max(sizes, b.scalarInt(b.i64, 1)), dy));
  Value rows = b.gather(dy, of, 0);
  if (share)
    rows = b.mul(rows, reshapeToColumn(b, share, rows));
  if (n.flag("scale_grad_by_freq")) {
    Value often = countIndices(b, indices, counts, number);
    often = b.max(b.gather(often, indices, 0), b.scalarInt(b.i64, 1));
    rows = b.div(rows, reshapeToColumn(b, often, rows));
  }
  rows = b.select(b.expandDims(counts, 1), rows, b.like(rows, 0));
  n.set(b.cast(scatterRows(b, none, indices, rows, ScatterReduction::add), n.resultElement()));
}

/// Gradient of `per_sample_weights`, the factors of the rows in a bag with mode "sum".
void perSampleWeightsGradient(Node &n, Build &b) {
  Value dy = b.widen(n.tensor("grad")), weight = b.widen(n.tensor("weight"));
  Value indices = b.cast(n.tensor("indices"), b.i64), of = readBagNumbers(n, b, indices);
  if (!b.require(n.integer("mode") == Sum, "argument 'mode': required: 0, a sum"))
    return;
  Value sum = b.reduce(ReduceKind::sum, b.mul(b.gather(dy, of, 0), b.gather(weight, indices, 0)),
                       {1}, false);
  n.set(
      b.cast(b.select(buildNonPaddingMask(n, b, indices), sum, b.like(sum, 0)), n.resultElement()));
}

const Operator table[] = {
    {"_embedding_bag.default", embeddingBag},
    {"_embedding_bag_forward_only.default", embeddingBag},
    {"_embedding_bag_backward.default", embeddingBagGradient},
    {"_embedding_bag_dense_backward.default", embeddingBagGradient},
    {"_embedding_bag_per_sample_weights_backward.default", perSampleWeightsGradient},
};

} // namespace

ArrayRef<Operator> bagOperators() { return table; }

} // namespace dlc::aten

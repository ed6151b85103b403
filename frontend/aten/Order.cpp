//===- Order.cpp - running sums, largest elements, sorting ----------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

template <ReduceKind kind> void cumulative(Node &n, Build &b) {
  Value x = b.cast(n.tensor("self"), n.resultElement());
  if (b.rank(x) == 0)
    return n.set(x);
  n.set(b.op<CumulativeOp>({x}, {b.attr("kind", ReduceKindAttr::get(b.context, kind)),
                                 b.attr("axis", n.axis("dim", b.rank(x)))}));
}

/// The first k in order; equal elements in the order they had.
void largest(Node &n, Build &b, std::optional<int64_t> k, bool fromTop) {
  Value x = n.tensor("self");
  Dims shape = b.dims(x);
  if (shape.empty())
    x = b.reshape(x, {1});
  if (!b.require(!b.isBool(x), "required: numbers; found bools"))
    return;
  int64_t axis = n.axis("dim", b.rank(x)), count = k.value_or(b.dim(x, axis));
  auto made = b.ops<TopKOp>({x}, {b.attr("k", count), b.attr("axis", axis),
                                  b.attr("largest", b.b.getBoolAttr(fromTop)),
                                  b.attr("sorted", b.b.getBoolAttr(true))});
  for (size_t i = 0; i < made.size(); ++i)
    n.set(i, shape.empty() ? b.reshape(made[i], {}) : made[i]);
}

void topK(Node &n, Build &b) { largest(n, b, n.integer("k"), n.flag("largest", true)); }

void sort(Node &n, Build &b) { largest(n, b, std::nullopt, n.flag("descending")); }

const Operator table[] = {
    {"cumsum.default", cumulative<ReduceKind::sum>},
    {"cumprod.default", cumulative<ReduceKind::prod>},
    {"topk.default", topK},
    {"sort.default", sort},
    {"sort.stable", sort},
};

} // namespace

ArrayRef<Operator> orderOperators() { return table; }

} // namespace dlc::aten

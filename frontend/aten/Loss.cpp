//===- Loss.cpp - losses that PyTorch has as one operator ---------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

enum Reduction { None, Mean, Sum };

/// The negative log-likelihood of classes along the second dimension, or the only one. What is
/// picked is picked by comparison, so that it and its gradient fuse with the rows' other sums.
void nllLoss(Node &n, Build &b) {
  Value x = n.tensor("self"), target = n.tensor("target"), weight = n.tensor("weight");
  int64_t reduction = n.integer("reduction"), ignored = n.integer("ignore_index");
  int64_t rank = b.rank(x), axis = rank > 1 ? 1 : 0;
  if (!b.require(rank >= 1 && b.rank(target) == rank - 1, "required: a class for each row"))
    return;
  Dims line(size_t(rank), 1);
  line[size_t(axis)] = b.dim(x, axis);
  Value label = b.expandDims(target, axis), number = b.iota(b.elem(target), line, axis);
  Value isClass = b.compare(Predicate::eq, number, label);
  auto picked = [&](Value values) {
    Value shaped = b.select(isClass, b.broadcast(values, b.shape(isClass)),
                            b.splat(b.elem(values), b.shape(isClass), 0));
    return b.reduce(ReduceKind::sum, shaped, {axis}, false);
  };
  // Those of the ignored class count nothing.
  Value counts =
      b.cast(b.compare(Predicate::ne, target, b.scalarInt(b.elem(target), ignored)), b.elem(x));
  if (weight)
    counts = b.mul(counts, picked(b.reshape(weight, line)));
  Value each = b.mul(b.mul(picked(x), -1.0), counts);
  Dims all;
  for (int64_t i = 0; i < b.rank(each); ++i)
    all.push_back(i);
  Value total = b.reduce(ReduceKind::sum, counts, all, false);
  if (reduction != None)
    each = b.reduce(ReduceKind::sum, each, all, false);
  n.set(0, reduction == Mean ? b.div(each, total) : each);
  if (n.wants(1))
    n.set(1, reduction == None ? b.scalar(b.elem(x), 0) : total);
}

const Operator table[] = {
    {"nll_loss_forward.default", nllLoss},
    {"nll_loss2d_forward.default", nllLoss},
};

} // namespace

ArrayRef<Operator> lossOperators() { return table; }

} // namespace dlc::aten

//===- Loss.cpp - losses that are single PyTorch operators ----------------===//
#include "frontend/aten/Gradient.h"

using namespace mlir;

namespace dlc::aten {
namespace {

enum Reduction { None, Mean, Sum };

Dims allAxes(Build &b, Value x) {
  Dims all;
  for (int64_t i = 0; i < b.rank(x); ++i)
    all.push_back(i);
  return all;
}

/// Negative log-likelihood loss with classes along dimension 1, or the only dimension. Selects the
/// target's class by comparison with an iota instead of a gather, so that the selection and its
/// gradient fuse with the other reductions of the row.
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
  // Targets equal to `ignore_index` have a loss and a weight of 0. They are masked by a select,
  // because the unmasked loss may be infinite.
  Value isCounted = b.compare(Predicate::ne, target, b.scalarInt(b.elem(target), ignored));
  Value counts = b.cast(isCounted, b.elem(x));
  if (weight)
    counts = b.mul(counts, picked(b.reshape(weight, line)));
  Value each =
      b.mul(b.select(isCounted, b.mul(picked(x), -1.0), b.splat(b.elem(x), b.shape(isCounted), 0)),
            counts);
  Dims all = allAxes(b, each);
  Value total = b.reduce(ReduceKind::sum, counts, all, false);
  if (reduction != None)
    each = b.reduce(ReduceKind::sum, each, all, false);
  n.set(0, reduction == Mean ? b.weightedMean(each, total) : each);
  if (n.hasResult(1))
    n.set(1, reduction == None ? b.scalar(b.elem(x), 0) : total);
}

/// Binary cross entropy of probabilities x and targets t. As in PyTorch, logarithms are clamped to
/// at least -100, and the gradient with respect to x is (x - t) / (x (1 - x)) with a divisor of at
/// least 1e-12.
Value buildBinaryCrossEntropy(Build &b, Value x, Value t) {
  constexpr double kMinLogarithm = -100, kMinDivisor = 1e-12;
  Value one = b.like(x, 1), variance = b.mul(x, b.sub(one, x));
  auto lossOf = [&](Value log, Value logOfRest) {
    return b.sub(b.mul(b.sub(t, one), logOfRest), b.mul(t, log));
  };
  auto bounded = [&](Value log) { return stopGradient(b, b.max(log, b.like(x, kMinLogarithm))); };
  Value isEdge = b.compare(Predicate::lt, variance, b.like(x, kMinDivisor));
  Value inside = b.select(isEdge, b.like(x, 0.5), x);
  Value loss = lossOf(b.unary<LogOp>(inside), b.unary<Log1pOp>(b.unary<NegOp>(inside)));
  Value edge = lossOf(bounded(b.unary<LogOp>(x)), bounded(b.unary<Log1pOp>(b.unary<NegOp>(x))));
  Value slope = b.div(b.sub(x, t), b.like(x, kMinDivisor));
  return b.select(isEdge, attachGradient(b, edge, slope, x), loss);
}

void binaryCrossEntropy(Node &n, Build &b) {
  Value x = b.widen(n.tensor("self")), target = b.cast(n.tensor("target"), b.elem(x));
  Value each = buildBinaryCrossEntropy(b, x, target), weight = n.tensor("weight");
  if (weight)
    each = b.mul(each, b.cast(weight, b.elem(x)));
  int64_t reduction = n.integer("reduction");
  if (reduction != None)
    each = b.reduce(reduction == Mean ? ReduceKind::mean : ReduceKind::sum, each, allAxes(b, each),
                    false);
  n.set(b.cast(each, n.resultElement()));
}

const Operator table[] = {
    {"binary_cross_entropy.default", binaryCrossEntropy},
    {"nll_loss_forward.default", nllLoss},
    {"nll_loss2d_forward.default", nllLoss},
};

} // namespace

ArrayRef<Operator> lossOperators() { return table; }

} // namespace dlc::aten

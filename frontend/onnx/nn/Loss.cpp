//===- Loss.cpp - classification losses -----------------------------------===//
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Negative log-likelihood of log-probabilities x [N, C, d..] and class indices `labels` [N, d..].
/// The class weights may be null.
Value negativeLogLikelihood(Node &n, Build &b, Value x, Value labels, Value weights) {
  std::string reduction = n.string("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    n.unsupported("reduction", reduction, "none, mean, sum");
    return {};
  }
  if (!b.require(b.rank(x) >= 2 && b.rank(labels) == b.rank(x) - 1 && b.dim(x, 1) > 0,
                 "required scores [N, C, d..] and labels [N, d..]"))
    return {};
  if (b.elem(labels) != b.i32 && b.elem(labels) != b.i64)
    labels = b.cast(labels, b.i64);
  Dims axes;
  for (int64_t i = 0; i < b.rank(labels); ++i)
    axes.push_back(i);
  Value place = b.clamp(labels, 0, double(b.dim(x, 1) - 1));
  Value picked = b.op<GatherElementsOp>({x, b.expandDims(place, 1)}, {b.attr("axis", int64_t(1))});
  Value loss = b.unary<NegOp>(b.reshape(picked, b.shape(labels)));
  Value weight = weights ? b.gather(weights, place, 0) : Value(), zero = b.like(loss, 0);
  if (n.hasAttr("ignore_index")) {
    Value ignored =
        b.compare(Predicate::eq, labels, b.scalarInt(b.elem(labels), n.integer("ignore_index", 0)));
    weight = b.select(ignored, zero, weight ? weight : b.like(loss, 1));
    // Losses of ignored targets are replaced by a select instead of multiplied by 0, because 0
    // times infinity is NaN.
    loss = b.select(ignored, zero, loss);
  }
  if (weight)
    loss = b.mul(loss, weight);
  if (reduction == "none")
    return loss;
  if (reduction == "sum" || !weight)
    return b.reduce(reduction == "sum" ? ReduceKind::sum : ReduceKind::mean, loss, axes, false);
  Value total = b.reduce(ReduceKind::sum, b.broadcast(weight, b.shape(labels)), axes, false);
  return b.weightedMean(b.reduce(ReduceKind::sum, loss, axes, false), total);
}

void negativeLogLikelihoodLoss(Node &n, Build &b) {
  n.set(0, negativeLogLikelihood(n, b, n.in(0), n.in(1), n.in(2)));
}

void softmaxCrossEntropyLoss(Node &n, Build &b) {
  if (!b.require(b.rank(n.in(0)) >= 2, "required scores [N, C, d..]"))
    return;
  Value logarithms = b.op<LogSoftmaxOp>({n.in(0)}, {b.attr("axis", int64_t(1))});
  n.set(0, negativeLogLikelihood(n, b, logarithms, n.in(1), n.in(2)));
  n.set(1, logarithms);
}

const Operator table[] = {
    {"NegativeLogLikelihoodLoss", negativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", softmaxCrossEntropyLoss},
};

} // namespace

ArrayRef<Operator> lossOperators() { return table; }

} // namespace dlc::onnxfront

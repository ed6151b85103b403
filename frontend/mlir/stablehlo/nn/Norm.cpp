//===- Norm.cpp - batch normalization ---------------------------------------------------------===//
#include "frontend/mlir/stablehlo/shape/Indices.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Reshapes a vector with one element per feature so that it broadcasts to x.
Value broadcastPerFeature(Node &n, Build &b, Value vector) {
  Dims shape(size_t(b.rank(n.in(0))), 1);
  shape[n.integer("feature_index")] = b.count(vector);
  return b.reshape(vector, shape);
}

/// Batch normalization with given statistics: (x - mean) / sqrt(variance + epsilon) * scale +
/// offset.
Value buildNormalization(Node &n, Build &b, Value scale, Value offset, Value mean, Value variance) {
  const double epsilon = n.attr<FloatAttr>("epsilon").getValueAsDouble();
  Value factor = b.mul(b.unary<RsqrtOp>(b.add(variance, epsilon)), scale);
  Value centered = b.sub(n.in(0), broadcastPerFeature(n, b, mean));
  return b.add(b.mul(centered, broadcastPerFeature(n, b, factor)),
               broadcastPerFeature(n, b, offset));
}

bool checkFeatures(Node &n, Build &b) {
  const int64_t feature = n.integer("feature_index");
  if (!b.require(feature >= 0 && feature < b.rank(n.in(0)),
                 "feature_index: required: a dimension of the operand; found: " + Twine(feature)))
    return false;
  for (size_t i = 1; i < n.ins.size(); ++i)
    if (!b.require(b.rank(n.in(i)) == 1 && b.count(n.in(i)) == b.dim(n.in(0), feature),
                   "operand " + Twine(i) + ": required: a vector with an element for each feature"))
      return false;
  return true;
}

void batchNormInference(Node &n, Build &b) {
  if (checkFeatures(n, b))
    n.set(buildNormalization(n, b, n.in(1), n.in(2), n.in(3), n.in(4)));
}

/// batch_norm_training: normalizes by the batch's mean and variance. The variance has no Bessel's
/// correction.
void batchNormTraining(Node &n, Build &b) {
  if (!checkFeatures(n, b))
    return;
  Value x = n.in(0);
  Dims axes = otherDims(b.rank(x), {n.integer("feature_index")});
  Value mean = b.reduce(ReduceKind::mean, x, axes, false);
  Value centered = b.sub(x, broadcastPerFeature(n, b, mean));
  Value variance = b.reduce(ReduceKind::mean, b.mul(centered, centered), axes, false);
  n.set(0, buildNormalization(n, b, n.in(1), n.in(2), mean, variance));
  n.set(1, mean);
  n.set(2, variance);
}

const OperatorEntry table[] = {
    {"stablehlo.batch_norm_inference", batchNormInference},
    {"stablehlo.batch_norm_training", batchNormTraining},
};

} // namespace

ArrayRef<OperatorEntry> normEntries() { return table; }

} // namespace dlc::stablehlo

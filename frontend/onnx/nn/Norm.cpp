//===- Norm.cpp - normalization -------------------------------------------===//
#include "frontend/builder/State.h"
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {

namespace {

/// Returns the mean and the variance of x over `axes`. The reduced dimensions remain with size 1.
std::pair<Value, Value> computeMeanAndVariance(Build &b, Value x, ArrayRef<int64_t> axes) {
  Value mean = b.reduce(ReduceKind::mean, x, axes, true), centred = b.sub(x, mean);
  return {mean, b.reduce(ReduceKind::mean, b.mul(centred, centred), axes, true)};
}

/// BatchNormalization in a model that is imported for training, whatever the node's `training_mode`
/// is. The running statistics are state, updated by ONNX's formula, which uses the population
/// variance.
void batchNormalizationTrained(Node &n, Build &b) {
  double momentum = n.real("momentum", 0.9f);
  Value x = n.in(0), scale = n.in(1);
  std::vector<Value> made = b.ops<BatchNormTrainOp>({x, scale, b.cast(n.in(2), b.elem(scale))},
                                                    {b.attrFloat("eps", n.real("epsilon", 1e-5f))});
  if (!b.ok())
    return;
  n.set(0, made[0]);
  for (int64_t i = 1; i <= 2; ++i) {
    Value argument = n.in(i + 2), running = b.training->statistics(argument);
    // If the graph computes the running statistics, they are not state and are not updated.
    Value before = running ? running : argument;
    Value next = b.add(b.mul(before, momentum),
                       b.mul(b.cast(made[size_t(i)], b.elem(before)), 1 - momentum));
    n.set(i, next);
    if (running)
      b.training->update(argument, next);
  }
}

void batchNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  double eps = n.real("epsilon", 1e-5f);
  if (!b.require(b.rank(x) >= 2, "required x [N, C, ..], found rank " + Twine(b.rank(x))))
    return;
  Type element = b.elem(x);
  auto of = [&](int64_t i) { return b.cast(n.in(i), element); };
  Value mean = n.in(3), variance = n.in(4);
  if (!b.require(n.opset >= 7 || n.integer("is_test", 0),
                 "training (attribute 'is_test' is 0) is not supported before opset 7"))
    return;
  if (b.training)
    return batchNormalizationTrained(n, b);
  if (n.flag("training_mode")) {
    double momentum = n.real("momentum", 0.9f);
    Dims axes;
    for (int64_t i = 0; i < b.rank(x); ++i)
      if (i != 1)
        axes.push_back(i);
    auto [batchMean, batchVariance] = computeMeanAndVariance(b, b.widen(x), axes);
    batchMean = b.flatten(batchMean);
    batchVariance = b.flatten(batchVariance);
    auto mix = [&](Value running, Value batch) {
      return b.add(b.mul(running, momentum), b.mul(b.cast(batch, b.elem(running)), 1 - momentum));
    };
    n.set(1, mix(mean, batchMean));
    n.set(2, mix(variance, batchVariance));
    mean = batchMean;
    variance = batchVariance;
  }
  n.set(0, b.op<BatchNormOp>({x, of(1), of(2), b.cast(mean, element), b.cast(variance, element)},
                             {b.attrFloat("eps", eps)}));
}

void instanceNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(b.rank(x) >= 3, "required x [N, C, spatial..], found rank " + Twine(b.rank(x))))
    return;
  n.set(0, groupNorm(b, x, b.flatten(n.in(1)), b.flatten(n.in(2)), b.dim(x, 1),
                     n.real("epsilon", 1e-5f)));
}

/// GroupNormalization. Before opset 21, scale and bias have one element per group; from opset 21
/// on, one per channel.
void groupNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t groups = n.integer("num_groups", 0);
  if (!b.require(b.rank(x) >= 2 && groups > 0 && b.dim(x, 1) % groups == 0,
                 "num_groups must divide the channels"))
    return;
  int64_t channels = b.dim(x, 1);
  const int64_t wanted = n.opset < 21 ? groups : channels;
  for (int64_t i : {1, 2})
    if (!b.require(b.count(n.in(i)) == wanted,
                   "input " + Twine(i) + " contradicts num_groups; required: " + Twine(wanted) +
                       (n.opset < 21 ? " elements, one per group" : " elements, one per channel") +
                       "; found: " + Twine(b.count(n.in(i))) + "; correct its shape"))
      return;
  auto ofChannels = [&](Value v) {
    if (n.opset < 21 && groups != channels)
      v = b.broadcast(b.reshape(v, {groups, 1}), {groups, channels / groups});
    return b.flatten(v);
  };
  n.set(0, groupNorm(b, x, ofChannels(n.in(1)), ofChannels(n.in(2)), groups,
                     n.real("epsilon", 1e-5f)));
}

/// Returns the type in which the statistics are computed (attribute `stash_type`), f32 by default.
Type stashType(Node &n, Build &b) { return n.dataType("stash_type", onnx::TensorProto::FLOAT); }

void layerNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", -1), b.rank(x));
  double eps = n.real("epsilon", 1e-5f);
  n.set(0, layerNorm(b, x, n.in(1), n.in(2), axis, eps));
  if (!n.hasOutput(1) && !n.hasOutput(2))
    return;
  Dims axes;
  for (int64_t i = axis; i < b.rank(x); ++i)
    axes.push_back(i);
  auto [mean, variance] = computeMeanAndVariance(b, b.cast(x, stashType(n, b)), axes);
  n.set(1, mean);
  n.set(2, b.div(b.like(variance, 1), b.unary<SqrtOp>(b.add(variance, eps))));
}

void rmsNormalization(Node &n, Build &b) {
  int64_t axis = b.axis(n.integer("axis", -1), b.rank(n.in(0)));
  n.set(0, rmsNorm(b, n.in(0), n.in(1), axis, n.real("epsilon", 1e-5f)));
}

/// SimplifiedLayerNormalization, an earlier name of RMSNormalization. The output `inv_std_var` is 1
/// / rms.
void simplifiedLayerNormalization(Node &n, Build &b) {
  rmsNormalization(n, b);
  if (!b.ok() || !n.hasOutput(1))
    return;
  Dims axes;
  for (int64_t i = b.axis(n.integer("axis", -1), b.rank(n.in(0))); i < b.rank(n.in(0)); ++i)
    axes.push_back(i);
  Value x = b.cast(n.in(0), stashType(n, b));
  Value mean = b.reduce(ReduceKind::mean, b.mul(x, x), axes, true);
  n.set(1, b.unary<RsqrtOp>(b.add(mean, n.real("epsilon", 1e-5f))));
}

void lrn(Node &n, Build &b) {
  n.set(0, b.op<LrnOp>({n.in(0)}, {b.attr("size", n.integer("size", 0)),
                                   b.attrFloat("alpha", n.real("alpha", 1e-4f)),
                                   b.attrFloat("beta", n.real("beta", 0.75)),
                                   b.attrFloat("k", n.real("bias", 1))}));
}

void lpNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", -1), b.rank(x)), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.unsupported("p", Twine(p), "1, 2");
  Value norm = b.reduce(ReduceKind::sum, p == 1 ? b.unary<AbsOp>(x) : b.mul(x, x), {axis}, true);
  if (p == 2)
    norm = b.unary<SqrtOp>(norm);
  // A norm of 0 is replaced by 1, so that the result is zeros instead of NaN.
  Value zero = b.compare(Predicate::eq, norm, b.like(norm, 0));
  n.set(0, b.div(x, b.select(zero, b.like(norm, 1), norm)));
}

void meanVarianceNormalization(Node &n, Build &b) {
  Value x = n.in(0);
  Dims axes = n.integers("axes", {0, 2, 3});
  for (int64_t &axis : axes)
    axis = b.axis(axis, b.rank(x));
  std::sort(axes.begin(), axes.end());
  auto [mean, variance] = computeMeanAndVariance(b, x, axes);
  n.set(0, b.div(b.sub(x, mean), b.add(b.unary<SqrtOp>(variance), 1e-9)));
}

const Operator table[] = {
    {"BatchNormalization", batchNormalization},
    {"InstanceNormalization", instanceNormalization},
    {"GroupNormalization", groupNormalization},
    {"LayerNormalization", layerNormalization},
    {"RMSNormalization", rmsNormalization},
    {"SimplifiedLayerNormalization", simplifiedLayerNormalization},
    {"LRN", lrn},
    {"LpNormalization", lpNormalization},
    {"MeanVarianceNormalization", meanVarianceNormalization},
};

} // namespace

ArrayRef<Operator> normOperators() { return table; }

} // namespace dlc::onnxfront

//===- Norm.cpp - softmax, batch, layer, group and weight normalization ---===//
#include "frontend/aten/nn/Norm.h"
#include "frontend/builder/Layers.h"

using namespace mlir;

namespace dlc::aten {

Value buildLayerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps) {
  auto alike = [&](Value v) { return v ? b.cast(v, b.elem(x)) : v; };
  return frontend::layerNorm(b, x, alike(scale), alike(bias), axis, eps);
}

namespace {

template <typename Op> void softmax(Node &n, Build &b) {
  // If the argument `half_to_float` is set, the result type is f32.
  Value x = n.operand("self", n.resultElement());
  if (b.rank(x) == 0)
    return n.set(b.reshape(b.op<Op>({b.reshape(x, {1})}, {b.attr("axis", int64_t(0))}), {}));
  n.set(b.op<Op>({x}, {b.attr("axis", n.axis("dim", b.rank(x)))}));
}

/// _safe_softmax: returns zeros, with a gradient of 0, for rows in which all elements are -inf.
void safeSoftmax(Node &n, Build &b) {
  Value x = n.operand("self", n.resultElement());
  int64_t axis = n.axis("dim", b.rank(x));
  Value top = b.reduce(ReduceKind::max, x, {axis}, true);
  Value empty = b.both(b.unary<IsInfOp>(top), b.compare(Predicate::lt, top, b.like(top, 0)));
  // The softmax of a row of -inf is NaN, and so would be its gradient times 0. In training such
  // rows are replaced by zeros.
  Value defined = b.training ? b.select(empty, b.like(x, 0), x) : x;
  n.set(b.select(empty, b.like(x, 0), b.softmax(defined, axis)));
}

/// Reshapes a vector [C] so that it broadcasts to the channels of x [N, C, ..].
Value broadcastPerChannel(Build &b, Value v, Value x) {
  Dims shape(size_t(std::max<int64_t>(b.rank(x) - 1, 1)), 1);
  shape[0] = b.count(v);
  return b.reshape(v, shape);
}

Value readChannelVector(Node &n, Build &b, StringRef name, Type element, int64_t count,
                        double otherwise) {
  Value given = n.tensor(name);
  return given ? b.cast(given, element) : b.splat(element, {count}, otherwise);
}

/// Sets the results that PyTorch saves for a backward pass to zeros of the recorded shapes. In
/// inference these results have no elements.
void setSavedResultsToZero(Node &n, Build &b) {
  for (size_t i = 1; i < n.numResults(); ++i)
    if (n.hasResult(i))
      n.set(i, b.splat(n.resultElement(i), n.result(i).getShape(), 0));
}

void batchNormInference(Node &n, Build &b) {
  Value x = n.tensor("input");
  if (!b.require(b.rank(x) >= 2, "required: x [N, C, ..]"))
    return;
  int64_t channels = b.dim(x, 1);
  Type element = b.elem(n.tensor("running_var"));
  Value scale = readChannelVector(n, b, "weight", element, channels, 1),
        bias = readChannelVector(n, b, "bias", element, channels, 0);
  n.set(0, b.op<BatchNormOp>({x, scale, bias, n.tensor("running_mean"), n.tensor("running_var")},
                             {b.attrFloat("eps", n.real("eps"))}));
  setSavedResultsToZero(n, b);
}

/// Batch norm in training: normalizes by the batch's statistics, and updates the running statistics
/// if there are any.
void batchNormTraining(Node &n, Build &b) {
  Value x = n.tensor("input");
  if (!b.require(b.rank(x) >= 2, "required: x [N, C, ..]") ||
      !b.require(n.flag("training", true), "argument 'training': required: true"))
    return;
  int64_t channels = b.dim(x, 1);
  Type element = b.isHalf(x) ? b.f32 : b.elem(x);
  double eps = n.real("eps"), momentum = n.real("momentum"),
         count = double(b.count(x)) / double(std::max<int64_t>(channels, 1));
  auto made = b.ops<BatchNormTrainOp>({x, readChannelVector(n, b, "weight", element, channels, 1),
                                       readChannelVector(n, b, "bias", element, channels, 0)},
                                      {b.attrFloat("eps", eps)});
  if (made.size() != 3)
    return;
  n.set(0, made[0]);
  n.set(1, made[1]);
  n.set(2, b.unary<RsqrtOp>(b.add(made[2], eps)));
  auto moved = [&](size_t i, StringRef name, Value now) {
    Value before = n.tensor(name);
    if (!n.hasResult(i) || !before)
      return;
    Value sum = b.add(b.mul(b.widen(before), 1 - momentum),
                      b.mul(b.cast(now, b.elem(b.widen(before))), momentum));
    // PyTorch records f32 as the result type of 16-bit statistics, too.
    n.set(i, b.cast(sum, n.resultElement(i)));
  };
  moved(3, "running_mean", made[1]);
  moved(4, "running_var", b.mul(made[2], count / std::max(1.0, count - 1)));
}

/// Gradients of batch norm in training, where the statistics depend on x: dlc.batch_norm_grad.
void batchNormTrainingGradients(Node &n, Build &b, Value x, Value dy, Value scale) {
  double eps = n.real("eps");
  Value r = n.tensor("save_invstd");
  Value variance = b.sub(b.div(b.like(r, 1), b.mul(r, r)), eps);
  auto made = b.ops<BatchNormGradOp>({x, dy, scale, n.tensor("save_mean"), variance},
                                     {b.attrFloat("eps", eps)});
  for (size_t i = 0; i < made.size(); ++i)
    if (n.hasResult(i))
      n.set(i, b.cast(made[i], n.resultElement(i)));
}

/// Gradients of batch norm in inference, where the statistics do not depend on x. With r = 1 /
/// sqrt(variance + eps): dx = dy scale r, dscale = r sum(dy (x - mean)), dbias = sum(dy).
void batchNormInferenceGradients(Node &n, Build &b, Value x, Value dy, Value scale) {
  Value variance = b.cast(n.tensor("running_var"), b.elem(scale)),
        mean = b.cast(n.tensor("running_mean"), b.elem(scale));
  Value r = b.unary<RsqrtOp>(b.add(variance, n.real("eps")));
  Dims axes{0};
  for (int64_t i = 2; i < b.rank(x); ++i)
    axes.push_back(i);
  Value wide = b.cast(dy, b.elem(scale));
  if (n.hasResult(0))
    n.set(0, b.cast(b.mul(wide, broadcastPerChannel(b, b.mul(scale, r), x)), n.resultElement(0)));
  if (n.hasResult(1)) {
    Value centred = b.sub(b.cast(x, b.elem(scale)), broadcastPerChannel(b, mean, x));
    Value sum = b.reduce(ReduceKind::sum, b.mul(wide, centred), axes, false);
    n.set(1, b.cast(b.mul(sum, r), n.resultElement(1)));
  }
  if (n.hasResult(2))
    n.set(2, b.cast(b.reduce(ReduceKind::sum, wide, axes, false), n.resultElement(2)));
}

void batchNormGradients(Node &n, Build &b) {
  Value x = n.tensor("input"), dy = n.tensor("grad_out");
  if (!b.require(b.rank(x) >= 2 && b.elem(x) == b.elem(dy),
                 "required: x [N, C, ..], and grad_out of its type"))
    return;
  Type element = b.isHalf(x) ? b.f32 : b.elem(x);
  Value scale = readChannelVector(n, b, "weight", element, b.dim(x, 1), 1);
  (n.flag("train") ? batchNormTrainingGradients : batchNormInferenceGradients)(n, b, x, dy, scale);
}

/// Returns the mean and the inverse standard deviation of x over `axes`, in at least f32. The
/// reduced dimensions remain with size 1.
std::pair<Value, Value> computeMeanAndInvStd(Build &b, Value x, ArrayRef<int64_t> axes,
                                             double eps) {
  x = b.widen(x);
  Value mean = b.reduce(ReduceKind::mean, x, axes, true), centred = b.sub(x, mean);
  Value variance = b.reduce(ReduceKind::mean, b.mul(centred, centred), axes, true);
  return {mean, b.unary<RsqrtOp>(b.add(variance, eps))};
}

/// Layer norm in training. Built from primitive operations, so that the statistics, which the
/// backward pass also reads, are computed once.
void layerNormTraining(Node &n, Build &b, Value x, int64_t axis) {
  Dims axes;
  for (int64_t i = axis; i < b.rank(x); ++i)
    axes.push_back(i);
  auto [mean, scaled] = computeMeanAndInvStd(b, x, axes, n.real("eps"));
  Value y = b.mul(b.sub(b.widen(x), mean), scaled);
  if (Value scale = n.tensor("weight"))
    y = b.mul(y, b.cast(scale, b.elem(y)));
  if (Value bias = n.tensor("bias"))
    y = b.add(y, b.cast(bias, b.elem(y)));
  n.set(0, b.cast(y, b.elem(x)));
  n.set(1, n.hasResult(1) ? b.cast(mean, n.resultElement(1)) : Value());
  n.set(2, n.hasResult(2) ? b.cast(scaled, n.resultElement(2)) : Value());
}

void layerNorm(Node &n, Build &b) {
  Value x = n.tensor("input"), scale = n.tensor("weight"), bias = n.tensor("bias");
  int64_t axis = b.rank(x) - int64_t(n.ints("normalized_shape").size());
  if (n.hasResult(1) || n.hasResult(2))
    return layerNormTraining(n, b, x, axis);
  n.set(0, buildLayerNorm(b, x, scale, bias, axis, n.real("eps")));
}

/// Returns the mean of each channel of x [N, C, ..] as [N, C, 1, ..]. Images are reduced in their
/// layout, without a reshape.
Value computeChannelMeans(Build &b, Value x) {
  Dims axes;
  for (int64_t i = 2; i < b.rank(x); ++i)
    axes.push_back(i);
  return axes.empty() ? x : b.reduce(ReduceKind::mean, x, axes, true);
}

/// Returns the mean of each group of channels of x [N, C, 1, ..] as [N, groups].
Value computeGroupMeans(Build &b, Value x, int64_t groups) {
  Value grouped = b.reshape(x, {b.dim(x, 0), groups, b.dim(x, 1) / groups});
  return b.reduce(ReduceKind::mean, grouped, {2}, false);
}

/// Broadcasts values of groups [N, groups] to the channels of x [N, C, ..], as [N, C, 1, ..].
Value broadcastGroupsToChannels(Build &b, Value v, Value x) {
  int64_t N = b.dim(x, 0), C = b.dim(x, 1), groups = b.dim(v, 1);
  Dims shape(size_t(b.rank(x)), 1);
  shape[0] = N;
  shape[1] = C;
  return b.reshape(b.broadcast(b.reshape(v, {N, groups, 1}), {N, groups, C / groups}), shape);
}

/// Group norm that also returns the statistics for the backward pass. The statistics of a group are
/// computed from those of its channels: with the channels' means m and variances v, and the group's
/// mean M of the m, the group's variance is mean(v + (m - M)^2).
void groupNormTraining(Node &n, Build &b, Value x, int64_t groups) {
  auto square = [&](Value v) { return b.mul(v, v); };
  Value wide = b.widen(x), m = computeChannelMeans(b, wide), mean = computeGroupMeans(b, m, groups);
  Value v = computeChannelMeans(b, square(b.sub(wide, m)));
  Value apart = square(b.sub(m, broadcastGroupsToChannels(b, mean, x)));
  Value r = b.unary<RsqrtOp>(b.add(computeGroupMeans(b, b.add(v, apart), groups), n.real("eps")));
  Value y =
      b.mul(b.sub(wide, broadcastGroupsToChannels(b, mean, x)), broadcastGroupsToChannels(b, r, x));
  if (Value scale = n.tensor("weight"))
    y = b.mul(y, b.cast(broadcastPerChannel(b, scale, x), b.elem(y)));
  if (Value bias = n.tensor("bias"))
    y = b.add(y, b.cast(broadcastPerChannel(b, bias, x), b.elem(y)));
  n.set(0, b.cast(y, b.elem(x)));
  n.set(1, n.hasResult(1) ? b.cast(mean, n.resultElement(1)) : Value());
  n.set(2, n.hasResult(2) ? b.cast(r, n.resultElement(2)) : Value());
}

bool checkGroups(Build &b, Value x, int64_t groups) {
  return b.require(groups > 0 && b.rank(x) >= 2 && b.dim(x, 1) % groups == 0 && b.count(x) > 0,
                   "required: x [N, C, ..] with elements, and groups that divide C");
}

void groupNorm(Node &n, Build &b) {
  Value x = n.tensor("input");
  int64_t groups = n.integer("group");
  if (!checkGroups(b, x, groups))
    return;
  if (n.hasResult(1) || n.hasResult(2))
    return groupNormTraining(n, b, x, groups);
  auto alike = [&](Value v) { return v ? b.cast(v, b.elem(x)) : v; };
  n.set(0, frontend::groupNorm(b, x, alike(n.tensor("weight")), alike(n.tensor("bias")), groups,
                               n.real("eps")));
}

/// Gradients of group norm. With h = (x - mean) r and dh = dy scale: dx = r (dh - mean(dh) - h
/// mean(dh h)), dscale = sum of dy h, dbias = sum of dy. All of these are computed from each
/// channel's means of dy and dy h.
void groupNormGradients(Node &n, Build &b) {
  Value x = n.tensor("input"), scale = n.tensor("weight");
  int64_t groups = n.integer("group");
  if (!checkGroups(b, x, groups))
    return;
  Value wide = b.widen(x), dy = b.cast(n.tensor("grad_out"), b.elem(wide));
  auto given = [&](StringRef name) {
    Value v = b.reshape(n.tensor(name), {b.dim(x, 0), groups});
    return broadcastGroupsToChannels(b, b.cast(v, b.elem(wide)), x);
  };
  Value r = given("rstd"), h = b.mul(b.sub(wide, given("mean")), r);
  Value means = computeChannelMeans(b, dy), along = computeChannelMeans(b, b.mul(dy, h));
  auto scaled = [&](Value v) {
    return scale ? b.mul(v, b.cast(broadcastPerChannel(b, scale, x), b.elem(v))) : v;
  };
  auto inGroups = [&](Value v) {
    return broadcastGroupsToChannels(b, computeGroupMeans(b, scaled(v), groups), x);
  };
  int64_t planes = b.dim(x, 0) * b.dim(x, 1), places = b.count(x) / planes;
  auto sum = [&](Value v) {
    Value total = b.reduce(ReduceKind::sum, b.reshape(v, {b.dim(x, 0), b.dim(x, 1)}), {0}, false);
    return b.mul(total, double(places));
  };
  if (n.hasResult(0)) {
    Value rest = b.add(inGroups(means), b.mul(h, inGroups(along)));
    n.set(0, b.cast(b.mul(r, b.sub(scaled(dy), rest)), n.resultElement(0)));
  }
  if (n.hasResult(1))
    n.set(1, b.cast(sum(along), n.resultElement(1)));
  if (n.hasResult(2))
    n.set(2, b.cast(sum(means), n.resultElement(2)));
}

/// Gradients of weight normalization w = v g / |v|, where the norm of v is taken over all
/// dimensions except `dim`.
void weightNormGradient(Node &n, Build &b) {
  Value v = b.widen(n.tensor("saved_v")), dw = b.widen(n.tensor("grad_w"));
  int64_t kept = n.axis("dim", b.rank(v));
  Dims axes, shape(size_t(b.rank(v)), 1);
  for (int64_t i = 0; i < b.rank(v); ++i)
    if (i != kept)
      axes.push_back(i);
  if (!b.ok() || !b.require(b.rank(v) > 0, "required: weights with a dimension"))
    return;
  shape[size_t(kept)] = b.dim(v, kept);
  Value g = b.reshape(b.cast(n.tensor("saved_g"), b.elem(v)), shape),
        length = b.reshape(b.cast(n.tensor("saved_norms"), b.elem(v)), shape);
  Value along = b.reduce(ReduceKind::sum, b.mul(dw, v), axes, true);
  if (n.hasResult(0)) {
    Value projected = b.sub(dw, b.mul(v, b.div(along, b.mul(length, length))));
    n.set(0, b.cast(b.mul(b.div(g, length), projected), n.resultElement(0)));
  }
  if (n.hasResult(1))
    n.set(1, b.reshape(b.cast(b.div(along, length), n.resultElement(1)), n.result(1).getShape()));
}

const Operator table[] = {
    {"_softmax.default", softmax<SoftmaxOp>},
    {"softmax.int", softmax<SoftmaxOp>},
    {"_safe_softmax.default", safeSoftmax},
    {"_log_softmax.default", softmax<LogSoftmaxOp>},
    {"log_softmax.int", softmax<LogSoftmaxOp>},
    {"_native_batch_norm_legit_no_training.default", batchNormInference},
    {"_native_batch_norm_legit.no_stats", batchNormTraining},
    {"_native_batch_norm_legit_functional.default", batchNormTraining},
    {"native_batch_norm_backward.default", batchNormGradients},
    {"_weight_norm_interface_backward.default", weightNormGradient},
    {"native_layer_norm.default", layerNorm},
    {"native_group_norm.default", groupNorm},
    {"native_group_norm_backward.default", groupNormGradients},
};

} // namespace

ArrayRef<Operator> normOperators() { return table; }

} // namespace dlc::aten

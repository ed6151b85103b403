//===- Norm.cpp - normalisation -------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

template <typename Op> void softmax(Node &n, Build &b) {
  // With half_to_float the result is f32.
  Value x = n.operand("self", n.resultElement());
  if (b.rank(x) == 0)
    return n.set(b.reshape(b.op<Op>({b.reshape(x, {1})}, {b.attr("axis", int64_t(0))}), {}));
  n.set(b.op<Op>({x}, {b.attr("axis", n.axis("dim", b.rank(x)))}));
}

/// Rows of -inf alone become zeros.
void safeSoftmax(Node &n, Build &b) {
  Value x = n.operand("self", n.resultElement());
  int64_t axis = n.axis("dim", b.rank(x));
  Value top = b.reduce(ReduceKind::max, x, {axis}, true);
  Value empty = b.both(b.unary<IsInfOp>(top), b.compare(Predicate::lt, top, b.like(top, 0)));
  n.set(b.select(empty, b.like(x, 0), b.softmax(x, axis)));
}

/// [C] beside x [N, C, ..].
Value perChannel(Build &b, Value v, Value x) {
  Dims shape(size_t(std::max<int64_t>(b.rank(x) - 1, 1)), 1);
  shape[0] = b.count(v);
  return b.reshape(v, shape);
}

Value ofChannels(Node &n, Build &b, StringRef name, Type element, int64_t count, double otherwise) {
  Value given = n.tensor(name);
  return given ? b.cast(given, element) : b.splat(element, {count}, otherwise);
}

/// What PyTorch saves for a backward pass that inference has not: empty tensors.
void setEmpty(Node &n, Build &b) {
  for (size_t i = 1; i < n.numResults(); ++i)
    if (n.wants(i))
      n.set(i, b.splat(n.resultElement(i), n.result(i).getShape(), 0));
}

void batchNormInference(Node &n, Build &b) {
  Value x = n.tensor("input");
  if (!b.require(b.rank(x) >= 2, "required: x [N, C, ..]"))
    return;
  int64_t channels = b.dim(x, 1);
  Type element = b.elem(n.tensor("running_var"));
  Value scale = ofChannels(n, b, "weight", element, channels, 1),
        bias = ofChannels(n, b, "bias", element, channels, 0);
  n.set(0, b.op<BatchNormOp>({x, scale, bias, n.tensor("running_mean"), n.tensor("running_var")},
                             {b.attrFloat("eps", n.real("eps"))}));
  setEmpty(n, b);
}

/// The batch's own statistics; running ones, where there are any, move.
void batchNormTraining(Node &n, Build &b) {
  Value x = n.tensor("input");
  if (!b.require(b.rank(x) >= 2, "required: x [N, C, ..]") ||
      !b.require(n.flag("training", true), "argument 'training': required: true"))
    return;
  int64_t channels = b.dim(x, 1);
  Type element = b.isHalf(x) ? b.f32 : b.elem(x);
  double eps = n.real("eps"), momentum = n.real("momentum"),
         count = double(b.count(x)) / double(std::max<int64_t>(channels, 1));
  auto made = b.ops<BatchNormTrainOp>({x, ofChannels(n, b, "weight", element, channels, 1),
                                       ofChannels(n, b, "bias", element, channels, 0)},
                                      {b.attrFloat("eps", eps)});
  if (made.size() != 3)
    return;
  n.set(0, made[0]);
  n.set(1, made[1]);
  n.set(2, b.unary<RsqrtOp>(b.add(made[2], eps)));
  auto moved = [&](size_t i, StringRef name, Value now) {
    Value before = n.tensor(name);
    if (n.wants(i) && before)
      n.set(i, b.add(b.mul(before, 1 - momentum), b.mul(b.cast(now, b.elem(before)), momentum)));
  };
  moved(3, "running_mean", made[1]);
  moved(4, "running_var", b.mul(made[2], count / std::max(1.0, count - 1)));
}

/// Mean and 1 / deviation over dimensions, which stay with size 1, in f32 at least.
std::pair<Value, Value> statistics(Build &b, Value x, ArrayRef<int64_t> axes, double eps) {
  x = b.widen(x);
  Value mean = b.reduce(ReduceKind::mean, x, axes, true), centred = b.sub(x, mean);
  Value variance = b.reduce(ReduceKind::mean, b.mul(centred, centred), axes, true);
  return {mean, b.unary<RsqrtOp>(b.add(variance, eps))};
}

void layerNorm(Node &n, Build &b) {
  Value x = n.tensor("input"), scale = n.tensor("weight"), bias = n.tensor("bias");
  int64_t axis = b.rank(x) - int64_t(n.ints("normalized_shape").size());
  double eps = n.real("eps");
  SmallVector<Value> operands{x};
  for (Value extra : {scale, bias})
    if (extra)
      operands.push_back(b.cast(extra, b.elem(x)));
  SmallVector<int32_t> segments{1, scale ? 1 : 0, bias ? 1 : 0};
  n.set(0, b.op<LayerNormOp>(operands,
                             {b.attr("axis", axis), b.attrFloat("eps", eps),
                              b.attr("operandSegmentSizes", b.b.getDenseI32ArrayAttr(segments))}));
  if (!n.wants(1) && !n.wants(2))
    return;
  Dims axes;
  for (int64_t i = axis; i < b.rank(x); ++i)
    axes.push_back(i);
  auto [mean, scaled] = statistics(b, x, axes, eps);
  n.set(1, n.wants(1) ? b.cast(mean, n.resultElement(1)) : Value());
  n.set(2, n.wants(2) ? b.cast(scaled, n.resultElement(2)) : Value());
}

void groupNorm(Node &n, Build &b) {
  Value x = n.tensor("input"), scale = n.tensor("weight"), bias = n.tensor("bias");
  int64_t groups = n.integer("group"), batch = b.dim(x, 0);
  if (!b.require(groups > 0 && b.rank(x) >= 2 && b.dim(x, 1) % groups == 0 && b.count(x) > 0,
                 "required: x [N, C, ..] with elements, and groups that divide C"))
    return;
  Value grouped = b.widen(b.reshape(x, {batch, groups, b.count(x) / (batch * groups)}));
  auto [mean, scaled] = statistics(b, grouped, {2}, n.real("eps"));
  Value y = b.reshape(b.mul(b.sub(grouped, mean), scaled), b.dims(x));
  if (scale)
    y = b.mul(y, b.cast(perChannel(b, scale, x), b.elem(y)));
  if (bias)
    y = b.add(y, b.cast(perChannel(b, bias, x), b.elem(y)));
  n.set(0, b.cast(y, b.elem(x)));
  if (n.wants(1))
    n.set(1, b.cast(b.reshape(mean, {batch, groups}), n.resultElement(1)));
  if (n.wants(2))
    n.set(2, b.cast(b.reshape(scaled, {batch, groups}), n.resultElement(2)));
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
    {"native_layer_norm.default", layerNorm},
    {"native_group_norm.default", groupNorm},
};

} // namespace

ArrayRef<Operator> normOperators() { return table; }

} // namespace dlc::aten

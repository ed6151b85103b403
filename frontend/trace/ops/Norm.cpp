//===- Norm.cpp - normalization -------------------------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

namespace {
template <typename Op> Tensor buildAxisOp(const char *name, const Operand &x, int64_t dim) {
  ApiCall call(name, {&x});
  typename Op::Adaptor::Properties properties;
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  return call.tensor(call.make<Op>(call.value(x), properties));
}

/// Returns the index of the first dimension of the last `dims` dimensions of x.
int64_t firstNormalizedDim(ApiCall &call, const Operand &x, int64_t dims) {
  int64_t rank = call.type(x).getRank();
  if (dims < 1 || dims > rank)
    call.fail("the number of normalised dimensions must be from 1 to ", rank, "; found ", dims);
  return rank - dims;
}
} // namespace

Tensor softmax(const Operand &x, int64_t dim) { return buildAxisOp<SoftmaxOp>("softmax", x, dim); }
Tensor log_softmax(const Operand &x, int64_t dim) {
  return buildAxisOp<LogSoftmaxOp>("log_softmax", x, dim);
}

Tensor layer_norm(const Operand &x, const Operand &scale, const Operand &bias, double eps,
                  int64_t dims) {
  ApiCall call("layer_norm", {&x, &scale, &bias});
  LayerNormOp::Adaptor::Properties properties;
  properties.axis = call.integer(firstNormalizedDim(call, x, dims));
  properties.eps = call.real(eps);
  properties.operandSegmentSizes = {1, scale ? 1 : 0, bias ? 1 : 0};
  return call.tensor(call.make<LayerNormOp>(call.values({&x, &scale, &bias}), properties));
}

Tensor rms_norm(const Operand &x, const Operand &scale, double eps, int64_t dims) {
  ApiCall call("rms_norm", {&x, &scale});
  RmsNormOp::Adaptor::Properties properties;
  properties.axis = call.integer(firstNormalizedDim(call, x, dims));
  properties.eps = call.real(eps);
  return call.tensor(call.make<RmsNormOp>(call.values({&x, &scale}), properties));
}

Tensor batch_norm(const Operand &x, const Operand &scale, const Operand &bias, const Operand &mean,
                  const Operand &variance, double eps) {
  ApiCall call("batch_norm", {&x, &scale, &bias, &mean, &variance});
  BatchNormOp::Adaptor::Properties properties;
  properties.eps = call.real(eps);
  return call.tensor(
      call.make<BatchNormOp>(call.values({&x, &scale, &bias, &mean, &variance}), properties));
}

BatchNormResult batch_norm_train(const Operand &x, const Operand &scale, const Operand &bias,
                                 double eps) {
  ApiCall call("batch_norm_train", {&x, &scale, &bias});
  BatchNormTrainOp::Adaptor::Properties properties;
  properties.eps = call.real(eps);
  SmallVector<Value> results =
      call.makeAll<BatchNormTrainOp>(call.values({&x, &scale, &bias}), properties);
  return {call.tensor(results[0]), call.tensor(results[1]), call.tensor(results[2])};
}

Tensor group_norm(const Operand &x, int64_t groups, const Operand &scale, const Operand &bias,
                  double eps) {
  ApiCall call("group_norm", {&x, &scale, &bias});
  GroupNormOp::Adaptor::Properties properties;
  properties.groups = call.integer(groups);
  properties.eps = call.real(eps);
  properties.operandSegmentSizes = {1, scale ? 1 : 0, bias ? 1 : 0};
  return call.tensor(call.make<GroupNormOp>(call.values({&x, &scale, &bias}), properties));
}

Tensor local_response_norm(const Operand &x, int64_t size, double alpha, double beta, double k) {
  ApiCall call("local_response_norm", {&x});
  LrnOp::Adaptor::Properties properties;
  properties.size = call.integer(size);
  properties.alpha = call.real(alpha);
  properties.beta = call.real(beta);
  properties.k = call.real(k);
  return call.tensor(call.make<LrnOp>(call.value(x), properties));
}

} // namespace dlc::trace

//===- Reduce.cpp - reductions along dimensions ---------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

namespace {
Tensor reduce(const char *name, ReduceKind kind, const Operand &x, const Dims &dims,
              bool keepdims) {
  ApiCall call(name, {&x});
  ReduceOp::Adaptor::Properties properties;
  properties.kind = ReduceKindAttr::get(call.context(), kind);
  properties.axes = call.list(call.dimensions(dims, call.type(x).getRank()));
  properties.keepdims = call.flag(keepdims);
  return call.tensor(call.make<ReduceOp>(call.value(x), properties));
}

Tensor argReduce(const char *name, ReduceKind kind, const Operand &x, int64_t dim, bool keepdims) {
  ApiCall call(name, {&x});
  ArgReduceOp::Adaptor::Properties properties;
  properties.kind = ReduceKindAttr::get(call.context(), kind);
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  properties.keepdims = call.flag(keepdims);
  return call.tensor(call.make<ArgReduceOp>(call.value(x), properties));
}

Tensor buildCumulative(const char *name, ReduceKind kind, const Operand &x, int64_t dim) {
  ApiCall call(name, {&x});
  CumulativeOp::Adaptor::Properties properties;
  properties.kind = ReduceKindAttr::get(call.context(), kind);
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  return call.tensor(call.make<CumulativeOp>(call.value(x), properties));
}
} // namespace

Tensor sum(const Operand &x, Dims dims, bool keepdims) {
  return reduce("sum", ReduceKind::sum, x, dims, keepdims);
}
Tensor mean(const Operand &x, Dims dims, bool keepdims) {
  return reduce("mean", ReduceKind::mean, x, dims, keepdims);
}
Tensor max(const Operand &x, Dims dims, bool keepdims) {
  return reduce("max", ReduceKind::max, x, dims, keepdims);
}
Tensor min(const Operand &x, Dims dims, bool keepdims) {
  return reduce("min", ReduceKind::min, x, dims, keepdims);
}
Tensor prod(const Operand &x, Dims dims, bool keepdims) {
  return reduce("prod", ReduceKind::prod, x, dims, keepdims);
}

Tensor variance(const Operand &x, Dims dims, bool keepdims) {
  ApiCall call("variance", {&x});
  return mean(square(x - mean(x, dims, true)), dims, keepdims);
}

Tensor argmax(const Operand &x, int64_t dim, bool keepdims) {
  return argReduce("argmax", ReduceKind::max, x, dim, keepdims);
}
Tensor argmin(const Operand &x, int64_t dim, bool keepdims) {
  return argReduce("argmin", ReduceKind::min, x, dim, keepdims);
}
Tensor cumsum(const Operand &x, int64_t dim) {
  return buildCumulative("cumsum", ReduceKind::sum, x, dim);
}
Tensor cumprod(const Operand &x, int64_t dim) {
  return buildCumulative("cumprod", ReduceKind::prod, x, dim);
}

TopK topk(const Operand &x, int64_t k, int64_t dim, bool largest) {
  ApiCall call("topk", {&x});
  TopKOp::Adaptor::Properties properties;
  properties.k = call.integer(k);
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  properties.largest = call.builder().getBoolAttr(largest);
  properties.sorted = call.builder().getBoolAttr(true);
  SmallVector<Value> results = call.makeAll<TopKOp>(call.value(x), properties);
  return {call.tensor(results[0]), call.tensor(results[1])};
}

} // namespace dlc::trace

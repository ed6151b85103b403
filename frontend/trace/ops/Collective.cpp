//===- Collective.cpp - collective operations over the processes of a world --===//
#include "dlc/collective.hpp"

#include "frontend/trace/State.h"
#include "ir/dlc/Collective.h"

using namespace mlir;

namespace dlc::trace {

namespace {
template <typename Op> typename Op::Adaptor::Properties makeProperties(ApiCall &call) {
  typename Op::Adaptor::Properties properties;
  properties.group = call.builder().getStringAttr("world");
  return properties;
}

ReduceKindAttr toReduceKind(ApiCall &call, Reduction reduction) {
  constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::mean, ReduceKind::max};
  return ReduceKindAttr::get(call.context(), kinds[int(reduction)]);
}
} // namespace

Tensor all_reduce(const Operand &x, Reduction reduction) {
  ApiCall call("all_reduce", {&x});
  auto properties = makeProperties<AllReduceOp>(call);
  properties.kind = toReduceKind(call, reduction);
  return call.tensor(call.make<AllReduceOp>(call.value(x), properties));
}

Tensor broadcast_ranks(const Operand &x, int64_t root) {
  ApiCall call("broadcast_ranks", {&x});
  auto properties = makeProperties<BroadcastRanksOp>(call);
  properties.root = call.integer(root);
  return call.tensor(call.make<BroadcastRanksOp>(call.value(x), properties));
}

Tensor all_gather(const Operand &x, int64_t size) {
  ApiCall call("all_gather", {&x});
  auto properties = makeProperties<AllGatherOp>(call);
  properties.size = call.integer(size);
  return call.tensor(call.make<AllGatherOp>(call.value(x), properties));
}

Tensor reduce_scatter(const Operand &x, int64_t size, Reduction reduction) {
  ApiCall call("reduce_scatter", {&x});
  auto properties = makeProperties<ReduceScatterOp>(call);
  properties.kind = toReduceKind(call, reduction);
  properties.size = call.integer(size);
  return call.tensor(call.make<ReduceScatterOp>(call.value(x), properties));
}

Tensor own_rows(const Operands &xs, int64_t size) {
  ApiCall call("own_rows", xs);
  auto properties = makeProperties<OwnRowsOp>(call);
  if (size != 0)
    properties.size = call.integer(size);
  SmallVector<Value> values;
  for (const Operand &x : xs)
    values.push_back(call.value(x));
  return call.tensor(call.make<OwnRowsOp>(values, properties));
}

} // namespace dlc::trace

namespace dlc::optim {

Gradients averaged(const Gradients &gradients) {
  Gradients result = gradients;
  for (Tensor &value : result.values)
    value = trace::all_reduce(value, trace::Reduction::Mean);
  return result;
}

} // namespace dlc::optim

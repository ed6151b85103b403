//===- Gather.cpp - gather and scatter operations -------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

static ScatterReductionAttr toScatterReduction(ApiCall &call, ScatterMode mode) {
  static constexpr ScatterReduction kinds[] = {ScatterReduction::none, ScatterReduction::add,
                                               ScatterReduction::mul, ScatterReduction::max,
                                               ScatterReduction::min};
  return ScatterReductionAttr::get(call.context(), kinds[int(mode)]);
}

static void checkIndexType(ApiCall &call, const Operand &indices) {
  Type element = call.type(indices).getElementType();
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    call.fail("indices must have element type i32 or i64; found ", dtypeName(dtypeOf(element)),
              "; cast them first");
}

Tensor index_select(const Operand &x, int64_t dim, const Operand &indices) {
  ApiCall call("index_select", {&x, &indices});
  checkIndexType(call, indices);
  GatherOp::Adaptor::Properties properties;
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  return call.tensor(call.make<GatherOp>({call.value(x), call.value(indices)}, properties));
}

Tensor embedding(const Operand &indices, const Operand &table) {
  ApiCall call("embedding", {&indices, &table});
  return index_select(table, 0, indices);
}

Tensor gather(const Operand &x, int64_t dim, const Operand &indices) {
  ApiCall call("gather", {&x, &indices});
  checkIndexType(call, indices);
  GatherElementsOp::Adaptor::Properties properties;
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  return call.tensor(call.make<GatherElementsOp>({call.value(x), call.value(indices)}, properties));
}

Tensor gather_nd(const Operand &x, const Operand &indices, int64_t batchDims) {
  ApiCall call("gather_nd", {&x, &indices});
  checkIndexType(call, indices);
  GatherNdOp::Adaptor::Properties properties;
  properties.batch_dims = call.integer(batchDims);
  return call.tensor(call.make<GatherNdOp>({call.value(x), call.value(indices)}, properties));
}

Tensor scatter(const Operand &x, int64_t dim, const Operand &indices, const Operand &updates,
               ScatterMode mode) {
  ApiCall call("scatter", {&x, &indices, &updates});
  checkIndexType(call, indices);
  ScatterElementsOp::Adaptor::Properties properties;
  properties.axis = call.integer(call.dimension(dim, call.type(x).getRank()));
  properties.reduction = toScatterReduction(call, mode);
  return call.tensor(call.make<ScatterElementsOp>(
      {call.value(x), call.value(indices), call.value(updates)}, properties));
}

Tensor scatter_nd(const Operand &x, const Operand &indices, const Operand &updates,
                  ScatterMode mode) {
  ApiCall call("scatter_nd", {&x, &indices, &updates});
  checkIndexType(call, indices);
  ScatterNdOp::Adaptor::Properties properties;
  properties.reduction = toScatterReduction(call, mode);
  return call.tensor(call.make<ScatterNdOp>(
      {call.value(x), call.value(indices), call.value(updates)}, properties));
}

} // namespace dlc::trace

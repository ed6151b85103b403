//===- Attention.cpp - scaled dot-product attention -----------------------===//
#include "frontend/trace/State.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

Tensor attention(const Operand &q, const Operand &k, const Operand &v, const Operand &mask,
                 bool causal, double scale) {
  ApiCall call("attention", {&q, &k, &v, &mask});
  RankedTensorType type = call.type(q);
  if (type.getRank() < 3)
    call.fail("q must be [.., T, D] of rank 3 or more; found ", type);
  int64_t width = type.getDimSize(type.getRank() - 1);
  if (scale == 0 && (ShapedType::isDynamic(width) || width == 0))
    call.fail("q's last dimension must be known and not 0 for the default scale; found ", type,
              "; give a scale");
  AttentionOp::Adaptor::Properties properties;
  properties.scale = call.real(scale != 0 ? scale : 1 / std::sqrt(double(width)));
  properties.causal = call.flag(causal);
  return call.tensor(call.make<AttentionOp>(call.values({&q, &k, &v, &mask}), properties));
}

} // namespace dlc::trace

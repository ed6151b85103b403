//===- Gradient.cpp - the gradient operation, which has no evaluation -----===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

using namespace mlir;

namespace dlc {

// A gradient cannot be evaluated from operand values: it depends on how the operands were computed.
LogicalResult GradientOp::evaluate(ArrayRef<ref::Tensor>, SmallVectorImpl<ref::Tensor> &) {
  return emitOpError(
      "the gradient must be expanded before it can be evaluated; run the grad phase (dlc-grad)");
}

} // namespace dlc

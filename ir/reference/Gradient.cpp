//===- Gradient.cpp - derivatives, before they are spelled out ------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

using namespace mlir;

namespace dlc {

// What it means depends on how its operands came about, which no operand tells.
LogicalResult GradientOp::evaluate(ArrayRef<ref::Tensor>, SmallVectorImpl<ref::Tensor> &) {
  return emitOpError(
      "must be spelled out before it can be evaluated; run the grad phase (dlc-grad)");
}

} // namespace dlc

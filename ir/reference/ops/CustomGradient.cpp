//===- CustomGradient.cpp - model-defined gradients, which have no evaluation ---===//
#include "ir/dlc/CustomGradient.h"
#include "ir/reference/Rows.h"

using namespace mlir;

namespace dlc {

// A cotangent cannot be evaluated: its value is known only after differentiation.
LogicalResult CotangentOp::evaluate(ArrayRef<ref::Tensor>, SmallVectorImpl<ref::Tensor> &) {
  return emitOpError("has no value before gradients are expanded; run the grad phase (dlc-grad)");
}

LogicalResult CustomGradientOp::evaluate(ArrayRef<ref::Tensor>, SmallVectorImpl<ref::Tensor> &) {
  return emitOpError(
      "the gradient must be expanded before it can be evaluated; run the grad phase (dlc-grad)");
}

} // namespace dlc

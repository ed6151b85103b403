//===- Classes.cpp - numeric class of an operation ------------------------===//
#include "passes/precision/Classes.h"

using namespace mlir;

namespace dlc::precision {
NumericClass classOf(Operation *op) {
  auto facts = dyn_cast<FactsInterface>(op);
  return facts ? facts.getNumericClass() : NumericClass::Full;
}

SmallVector<OpOperand *> dataOperands(Operation *op) {
  SmallVector<OpOperand *> data;
  // All operands of layer, RMS and group normalization have one element type, whereas the scale and
  // statistics of batch norm may have another type than its data.
  bool all = isa<LayerNormOp, RmsNormOp, GroupNormOp>(op);
  size_t count = all ? op->getNumOperands() : isa<BatchNormGradOp>(op) ? 2 : 1;
  for (OpOperand &operand : op->getOpOperands().take_front(count))
    data.push_back(&operand);
  return data;
}

bool mustStayInF32(const OpOperand &operand) {
  auto gradient = dyn_cast<AttentionGradOp>(operand.getOwner());
  return gradient && operand.get() == gradient.getLse();
}

bool mustStayInF32(OpResult result) {
  auto forward = dyn_cast<AttentionTrainOp>(result.getOwner());
  return forward && result == forward.getLse();
}

bool isViewLike(Operation *op) { return isa<ReshapeOp, TransposeOp, SliceOp>(op); }

} // namespace dlc::precision

//===- FusedAttention.cpp - attention that fused kernels compute ----------===//
#include "passes/fuse/attention/FusedAttention.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
using namespace mlir;

namespace dlc {

bool isAttention(Operation *op) { return isa<AttentionInterface>(op); }

/// Returns the value from which `value` is derived by view operations.
static Value stripViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<ViewLike>())
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool canFuseAttention(Operation *op, std::string *why) {
  auto no = [&](const Twine &reason) {
    if (why)
      *why = "fused attention kernels require " + reason.str();
    return false;
  };
  Value q = op->getOperand(0), k = op->getOperand(1), v = op->getOperand(2);
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (!typeOf(value).hasStaticShape() || staticElements(typeOf(value)) == 0)
      return no("static shapes that are not empty");
  Type element = typeOf(q).getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return no("f32, f16 or bf16");
  if (shapeOf(k).back() > maxHeadSize || shapeOf(v).back() > maxHeadSize)
    return no("heads of at most " + Twine(maxHeadSize) + " elements");
  for (Value operand : op->getOperands())
    if (splatValue(stripViews(operand)))
      return no("operands that are not splat constants");
  return true;
}

bool shouldKeepFused(Operation *op) {
  OnAttr device = deviceOf(op->getResult(0).getType());
  bool isAsked = can(device, DLC_DEVICE_GPU_CODE) || op->hasAttr(kKeepFusedAttr);
  return isAsked && canFuseAttention(op);
}

} // namespace dlc

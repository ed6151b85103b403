//===- Views.cpp - which values are views of other values -----------------===//
#include "codegen/lower/Views.h"

#include "ir/dlc/IndexMap.h"
#include "ir/exec/Exec.h"
#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/StepSlice.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {

std::optional<int64_t> contiguousStart(SliceOp slice) {
  auto start = runStart(slice);
  int64_t bytes = ref::elementBytes(tensorTypeOf(slice.getX()).getElementType());
  return start ? std::optional(*start * bytes) : std::nullopt;
}

std::string deviceNameOf(Type type) {
  OnAttr on = deviceOf(type);
  return on ? on.getDeviceName() : exec::kHost.str();
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.getRank() == 0;
}

std::string commandDevice(Operation *op) {
  auto transfer = dyn_cast<TransferOp>(op);
  if (transfer)
    return deviceNameOf(transfer.getY().getType());
  for (Value result : op->getResults())
    if (!isScalar(result.getType()))
      return deviceNameOf(result.getType());
  for (Value operand : op->getOperands())
    if (!isScalar(operand.getType()))
      return deviceNameOf(operand.getType());
  return op->getNumResults() ? deviceNameOf(op->getResult(0).getType()) : exec::kHost.str();
}

bool crosses(Operation *op) {
  auto transfer = dyn_cast<TransferOp>(op);
  return transfer &&
         deviceNameOf(transfer.getX().getType()) != deviceNameOf(transfer.getY().getType());
}

std::optional<std::pair<Value, int64_t>> viewOf(Operation *op) {
  if (isa<ReshapeOp, TransposedViewOp>(op) || (isa<TransferOp>(op) && !crosses(op)))
    return std::pair{op->getOperand(0), int64_t(0)};
  if (auto slice = dyn_cast<SliceOp>(op))
    if (auto start = isReversedStack(op) ? 0 : contiguousStart(slice))
      return std::pair{Value(slice.getX()), *start};
  return std::nullopt;
}

} // namespace dlc

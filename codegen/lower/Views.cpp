//===- Views.cpp - which values are views of other values -----------------===//
#include "codegen/lower/Views.h"

#include "ir/dlc/IndexMap.h"
#include "ir/exec/Exec.h"
#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/analysis/StepSlice.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {

std::optional<int64_t> getSliceByteOffset(SliceOp slice) {
  auto start = contiguousSliceOffset(slice);
  int64_t bytes = ref::elementBytes(tensorTypeOf(slice.getX()).getElementType());
  return start ? std::optional(*start * bytes) : std::nullopt;
}

std::string getTypeDeviceName(Type type) {
  OnAttr on = deviceOf(type);
  return on ? on.getDeviceName() : exec::kHost.str();
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.getRank() == 0;
}

std::string getCommandDevice(Operation *op) {
  auto transfer = dyn_cast<TransferOp>(op);
  if (transfer)
    return getTypeDeviceName(transfer.getY().getType());
  for (Value result : op->getResults())
    if (!isScalar(result.getType()))
      return getTypeDeviceName(result.getType());
  for (Value operand : op->getOperands())
    if (!isScalar(operand.getType()))
      return getTypeDeviceName(operand.getType());
  return op->getNumResults() ? getTypeDeviceName(op->getResult(0).getType()) : exec::kHost.str();
}

bool crossesDevices(Operation *op) {
  auto transfer = dyn_cast<TransferOp>(op);
  return transfer && getTypeDeviceName(transfer.getX().getType()) !=
                         getTypeDeviceName(transfer.getY().getType());
}

std::optional<std::pair<Value, int64_t>> matchView(Operation *op) {
  if (isa<ReshapeOp, TransposedViewOp>(op) || (isa<TransferOp>(op) && !crossesDevices(op)))
    return std::pair{op->getOperand(0), int64_t(0)};
  if (auto slice = dyn_cast<SliceOp>(op))
    if (auto start = isReversedLoopOutput(op) ? 0 : getSliceByteOffset(slice))
      return std::pair{Value(slice.getX()), *start};
  return std::nullopt;
}

} // namespace dlc

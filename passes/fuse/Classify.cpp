//===- Classify.cpp - what an operation is to fusion ----------------------===//
#include "passes/fuse/Classify.h"

#include "ir/dlc/IndexMap.h"
#include "passes/fuse/StepSlice.h"

using namespace mlir;

namespace dlc {
namespace {

/// The size of the last dimension that is not 1, counted from the end; 1 for scalars.
int64_t innermost(ArrayRef<int64_t> shape) {
  for (int64_t d : llvm::reverse(shape))
    if (d != 1)
      return d;
  return 1;
}

} // namespace

bool isContiguousConcat(ConcatOp op) {
  if (!layoutOf(op.getY().getType()).empty())
    return false;
  ArrayRef<int64_t> shape = shapeOf(op.getY());
  for (int64_t d : shape.take_front(op.getAxis()))
    if (d != 1)
      return false;
  return true;
}

bool isAlias(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return layoutOf(reshape.getX().getType()).empty();
  if (auto slice = dyn_cast<SliceOp>(op))
    return (layoutOf(slice.getX().getType()).empty() && typeOf(slice.getX()).hasStaticShape() &&
            runOf(slice)) ||
           isTurnedStack(slice);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return isContiguousConcat(concat);
  return isStepIndex(op) || stepSliceOf(op);
}

bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>(); }

bool isMovement(Operation *op) { return op->hasTrait<Movement>(); }

bool keepsInnermost(Operation *op) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    // Unit dimensions do not matter: the innermost dimension that has elements must stay innermost.
    ArrayRef<int64_t> shape = shapeOf(transpose.getX());
    int64_t last = -1, lastOfResult = -1;
    for (auto [d, size] : llvm::enumerate(shape))
      if (size != 1)
        last = d;
    for (int64_t from : transpose.getPermutation())
      if (shape[from] != 1)
        lastOfResult = from;
    return last == lastOfResult;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return innermost(shapeOf(reshape.getX())) == innermost(shapeOf(reshape.getY()));
  if (auto gather = dyn_cast<GatherOp>(op))
    return int64_t(gather.getAxis()) + 1 < typeOf(gather.getX()).getRank();
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getStride().empty() || slice.getStride().back() == 1;
  return true;
}

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!tensor.hasStaticShape())
    return int64_t(1) << 40;
  return tensor.getNumElements() * ref::elementBytes(tensor.getElementType());
}

NodeClass classify(Operation *op) {
  if (isa<ConstantOp>(op))
    return NodeClass::Constant;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return NodeClass::Opaque;
  }
  if (isAlias(op))
    return NodeClass::Alias;
  if (isElementwise(op) || isMovement(op) || op->hasTrait<ElementMove>())
    return NodeClass::Map;
  if (isa<ReduceOp>(op))
    return NodeClass::Reduce;
  if (op->hasTrait<Contraction>())
    return NodeClass::Contraction;
  if (op->hasTrait<Pooling>())
    return NodeClass::Pool;
  return NodeClass::Opaque;
}

} // namespace dlc

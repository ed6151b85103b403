//===- Classify.cpp - classifies operations for fusion --------------------===//
#include "passes/fuse/analysis/Classify.h"

#include "ir/dlc/Shape.h"
#include "passes/Devices.h"

#include "ir/dlc/IndexMap.h"
#include "passes/fuse/analysis/MonotonicGather.h"
#include "passes/fuse/analysis/StepSlice.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {
namespace {

/// Returns the size of the innermost dimension whose size is not 1, or 1 if there is none.
int64_t innermostSize(ArrayRef<int64_t> shape) {
  for (int64_t d : llvm::reverse(shape))
    if (d != 1)
      return d;
  return 1;
}

/// Returns the innermost dimension in memory: elements at its adjacent indices are adjacent in
/// memory.
int64_t innermostDim(RankedTensorType type) {
  auto tag = Tag::parse(layoutOf(type));
  if (!tag || tag->order.empty())
    return type.getRank() - 1;
  return tag->blockedDim >= 0 ? tag->blockedDim : tag->order.back();
}

/// Returns whether the shorter list of values is a contiguous part of the longer list.
bool isContiguousSublist(ValueRange a, ValueRange b) {
  if (a.size() > b.size())
    std::swap(a, b);
  for (size_t first = 0; first + a.size() <= b.size(); ++first)
    if (b.slice(first, a.size()) == a)
      return true;
  return false;
}

} // namespace

bool isContiguousConcat(ConcatOp op) {
  StringRef tag = layoutOf(op.getY().getType());
  return isOutermost(typeOf(op.getY()), op.getAxis()) &&
         llvm::none_of(op.getXs(), [&](Value part) { return hasPartialBlock(shapeOf(part), tag); });
}

bool isInPlaceConcat(ConcatOp op) {
  if (!isContiguousConcat(op))
    return false;
  if (layoutOf(op.getY().getType()).empty())
    return true;
  int64_t inPlace = 0;
  for (Value part : op.getXs()) {
    Operation *maker = part.getDefiningOp();
    bool isPlaced = maker && maker->getBlock() == op->getBlock() &&
                    !isa<ConstantOp, SliceOp>(maker) &&
                    llvm::all_of(part.getUsers(), [&](Operation *user) {
                      auto other = dyn_cast<ConcatOp>(user);
                      return !other || isContiguousSublist(op.getXs(), other.getXs());
                    });
    inPlace += isPlaced ? bytesOf(part.getType()) : 0;
  }
  return 2 * inPlace >= bytesOf(op.getY().getType());
}

bool isAlias(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return layoutOf(reshape.getX().getType()).empty();
  if (auto slice = dyn_cast<SliceOp>(op))
    return contiguousSliceOffset(slice) || isReversedLoopOutput(slice);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return isInPlaceConcat(concat);
  return isIterationIndex(op) || matchStepSlice(op);
}

bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>(); }

bool isMovement(Operation *op) { return op->hasTrait<Movement>(); }

bool concatenatesInnermostDim(ConcatOp op) {
  auto tag = Tag::parse(layoutOf(op.getY().getType()));
  return int64_t(op.getAxis()) == innermostDim(typeOf(op.getY())) && (!tag || tag->blockedDim < 0);
}

bool isInterleavingConcat(ConcatOp op) {
  int64_t axis = op.getAxis();
  auto isUnit = [&](Value part) { return shapeOf(part)[axis] == 1; };
  return axis > 0 && axis + 1 == typeOf(op.getY()).getRank() && op.getXs().size() > 1 &&
         llvm::isPowerOf2_64(op.getXs().size()) && llvm::all_of(op.getXs(), isUnit);
}

bool preservesInnermostDim(Operation *op) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    // Unit dimensions are ignored: a transposition keeps the innermost dimension if the last
    // dimension of more than one element stays last.
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
    return innermostSize(shapeOf(reshape.getX())) == innermostSize(shapeOf(reshape.getY()));
  if (auto gather = dyn_cast<GatherOp>(op)) {
    return isMonotonic(gather) || int64_t(gather.getAxis()) != innermostDim(typeOf(gather.getX()));
  }
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getStride().empty() || slice.getStride().back() == 1;
  return true;
}

bool preservesVectorization(Operation *op) {
  if (preservesInnermostDim(op))
    return true;
  if (auto slice = dyn_cast<SliceOp>(op))
    return std::abs(slice.getStride().back()) <= kNearStep;
  // Vectors of the result are computed from few vectors of the operand if a reshape merges rows of
  // a multiple of 16 elements (the assumed vector size), or of a few elements (a power of two).
  constexpr int64_t vector = 16;
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (reshape && typeOf(reshape.getX()).getRank() > 0 &&
      staticElements(typeOf(reshape.getX())) > 0) {
    int64_t run = shapeOf(reshape.getX()).back(), row = innermostSize(shapeOf(reshape.getY()));
    // On GPUs, a reshape is fused if it splits rows into parts of whole vectors, because threads
    // iterate over parts of rows.
    if (can(deviceOf(reshape.getX().getType()), DLC_DEVICE_GPU_CODE) && run % row == 0 &&
        row % vector == 0)
      return true;
    return layoutOf(reshape.getX().getType()).empty() && row % run == 0 && run > 1 &&
           ((run <= kNearStep && llvm::isPowerOf2_64(run)) || run % vector == 0);
  }
  return false;
}

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!tensor.hasStaticShape())
    return int64_t(1) << 40;
  return ref::storageBytes(tensor);
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

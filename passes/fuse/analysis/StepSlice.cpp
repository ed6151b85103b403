//===- StepSlice.cpp - slices whose offset advances with a loop -----------===//
#include "passes/fuse/analysis/StepSlice.h"

#include "ir/dlc/Matchers.h"
#include "passes/TensorBuilder.h"

using namespace mlir;

namespace dlc {

std::optional<int64_t> getTripCount(LoopOp loop) {
  double trips = 0;
  if (loop.getCondition() || !loop.getTrip() || !isSplat(loop.getTrip(), trips))
    return std::nullopt;
  return std::max<int64_t>(int64_t(trips), 0);
}

bool isInnermost(LoopOp loop) {
  return !loop.getBody().walk([](LoopOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Matches the index as first + step * iteration, or returns nullopt.
static std::optional<IterationSlice> matchStep(Value index, Value iteration) {
  if (index == iteration)
    return IterationSlice{};
  Operation *op = index.getDefiningOp();
  double constant = 0;
  if (!isa_and_nonnull<AddOp, SubOp>(op) || typeOf(index).getRank() != 0)
    return std::nullopt;
  Value left = op->getOperand(0), right = op->getOperand(1);
  bool subtracts = isa<SubOp>(op);
  if (right == iteration && isSplat(left, constant))
    return IterationSlice{int64_t(constant), subtracts ? -1 : 1};
  if (left == iteration && isSplat(right, constant))
    return IterationSlice{subtracts ? -int64_t(constant) : int64_t(constant), 1};
  return std::nullopt;
}

/// Matches a gather whose index advances with the loop's iteration, even if the index has other
/// readers.
static std::optional<IterationSlice> matchStep(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  auto loop = gather ? dyn_cast<LoopOp>(op->getParentOp()) : LoopOp();
  if (!loop || gather.getAxis() != 0 || !layoutOf(gather.getX().getType()).empty() ||
      !typeOf(gather.getX()).hasStaticShape() || typeOf(gather.getIndices()).getRank() != 0)
    return std::nullopt;
  auto slice = matchStep(gather.getIndices(), loop.getBody().getArgument(0));
  auto trips = getTripCount(loop);
  if (!slice || !trips || *trips == 0 || !isInnermost(loop))
    return std::nullopt;
  int64_t last = slice->first + slice->step * (*trips - 1), rows = shapeOf(gather.getX())[0];
  if (std::min(slice->first, last) < 0 || std::max(slice->first, last) >= rows)
    return std::nullopt;
  return slice;
}

bool isIterationIndex(Operation *op) {
  return isa<AddOp, SubOp>(op) && isa<LoopOp>(op->getParentOp()) && !op->use_empty() &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           return use.getOperandNumber() == 1 && matchStep(use.getOwner());
         });
}

std::optional<IterationSlice> matchStepSlice(Operation *op) {
  auto slice = matchStep(op);
  if (!slice)
    return std::nullopt;
  // A gather with a matching index needs no kernel, and neither does arithmetic on the iteration
  // number that only such gathers read. If other operations read the index, a kernel must compute
  // it, and there is no match.
  Operation *index = cast<GatherOp>(op).getIndices().getDefiningOp();
  return !index || isIterationIndex(index) ? slice : std::nullopt;
}

bool isReversedLoopOutput(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto loop = slice ? slice.getX().getDefiningOp<LoopOp>() : LoopOp();
  if (!loop || !slice.getX().hasOneUse() || !layoutOf(slice.getX().getType()).empty())
    return false;
  if (cast<OpResult>(slice.getX()).getResultNumber() < loop.getInits().size() ||
      !getTripCount(loop))
    return false;
  ArrayRef<int64_t> shape = shapeOf(slice.getX());
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool isTransposed = d == 0 && size > 1;
    if (slice.getSize()[d] != size || slice.getStart()[d] != (isTransposed ? size - 1 : 0) ||
        (size > 1 && slice.getStride()[d] != (isTransposed ? -1 : 1)))
      return false;
  }
  return true;
}

} // namespace dlc

//===- SplitFusion.cpp - splits a fusion around a contraction into two kernels -===//
#include "codegen/select/candidates/SplitFusion.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/refine/FusionBuilder.h"
#include "ir/dlc/Attributes.h"
#include "passes/Costs.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/place/Cost.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns the only matmul or convolution of a fusion; null if there is none or more than one.
Operation *findContraction(FusionOp fusion) {
  Operation *only = nullptr;
  for (Operation &op : fusion.getBody().front())
    if (isa<MatmulOp, ConvOp, ConvTransposeOp>(op)) {
      if (only)
        return nullptr;
      only = &op;
    }
  return only;
}

/// Returns true if the first kernel would dequantize or convert constant weights in each run, and
/// the matmul is bound by weight bandwidth.
bool convertsWeightsEachRun(FusionOp first, Operation *contraction) {
  auto product = dyn_cast<MatmulOp>(contraction);
  return product && isWeightBandwidthBound(product) && !first.getInputs().empty() &&
         llvm::all_of(first.getInputs(), [](Value input) {
           return isa_and_nonnull<ConstantOp>(input.getDefiningOp());
         });
}

/// Returns the values at which the fusion can be split: computed operands of the contraction, and
/// results after the contraction that are the only values that later ops need. The latter are in
/// reverse order.
SmallVector<Value> findSplitPoints(FusionOp fusion, Operation *contraction) {
  SmallVector<Value> cuts;
  for (Value operand : contraction->getOperands())
    if (Operation *maker = operand.getDefiningOp(); maker && !isa<ConstantOp>(maker))
      cuts.push_back(operand);
  Block &body = fusion.getBody().front();
  ValueRange yielded = getYield(fusion).getOperands();
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (op.getNumResults() != 1 || isa<ConstantOp>(op) ||
        (yielded.size() == 1 && op.getResult(0) == yielded.front()))
      continue;
    llvm::SetVector<Operation *> before;
    BackwardSliceOptions within;
    within.inclusive = true;
    within.omitBlockArguments = true;
    within.filter = [&](Operation *each) { return each->getBlock() == &body; };
    if (failed(getBackwardSlice(&op, &before, within)) || !before.contains(contraction))
      continue;
    auto isWhole = [&](Operation &later) {
      return (before.contains(&later) && &later != body.getTerminator()) ||
             llvm::all_of(later.getOperands(), [&](Value operand) {
               Operation *maker = operand.getDefiningOp();
               return operand == op.getResult(0) || !maker || isa<ConstantOp>(maker) ||
                      !before.contains(maker);
             });
    };
    if (llvm::all_of(body, isWhole))
      cuts.push_back(op.getResult(0));
  }
  return cuts;
}

/// The result of splitting a fusion: two kernels, or one kernel and views. They are inserted before
/// the fusion.
struct FusionSplit {
  SmallVector<Operation *> kernels;
  SmallVector<Operation *> views;
  SmallVector<Value> results; ///< values that replace the fusion's results, in the same order

  void erase() {
    for (Operation *op : llvm::reverse(views))
      op->erase();
    for (Operation *op : llvm::reverse(kernels))
      op->erase();
  }
};

/// Returns the reshapes between `cut` and `result`, the last one first; std::nullopt if there are
/// other ops between the two values.
std::optional<SmallVector<Operation *>> collectReshapesBetween(Value result, Value cut) {
  SmallVector<Operation *> reshapes;
  for (; result != cut; result = reshapes.back()->getOperand(0)) {
    if (!isa_and_nonnull<ReshapeOp>(result.getDefiningOp()))
      return std::nullopt;
    reshapes.push_back(result.getDefiningOp());
  }
  return reshapes;
}

FusionSplit splitFusionAt(FusionOp fusion, Value cut) {
  OpBuilder b(fusion);
  FusionSplit split;
  ValueRange yielded = getYield(fusion).getOperands();
  auto first = FusionBuilder(b, fusion.getLoc(), cut.getType()).yield(cut);
  split.kernels.push_back(first);
  if (auto reshapes =
          yielded.size() == 1 ? collectReshapesBetween(yielded.front(), cut) : std::nullopt) {
    IRMapping map;
    map.map(cut, first.getResult(0));
    for (Operation *op : llvm::reverse(*reshapes))
      split.views.push_back(b.clone(*op, map));
    split.results = {map.lookup(yielded.front())};
    return split;
  }
  SmallVector<Value> rest;
  SmallVector<Type> types;
  for (Value value : yielded)
    if (value != cut) {
      rest.push_back(value);
      types.push_back(value.getType());
    }
  FusionBuilder fused(b, fusion.getLoc(), types);
  fused.replaceValue(cut, first.getResult(0));
  FusionOp second = fused.yield(rest);
  split.kernels.push_back(second);
  unsigned next = 0;
  for (Value value : yielded)
    split.results.push_back(value == cut ? first.getResult(0) : second.getResult(next++));
  return split;
}

/// Returns the total estimated microseconds of the best kernels of a split; std::nullopt if an
/// operation has no kernel, or only a reference implementation.
std::optional<double> timeOf(const FusionSplit &split, const CompileOptions &options,
                             const cpu::Target &target) {
  double time = 0;
  for (Operation *op : split.kernels) {
    std::string refusals;
    auto candidates = candidatesFor(op, options, target, /*every=*/false, refusals);
    if (candidates.empty() || candidates.front().isReference)
      return std::nullopt;
    time += candidates.front().estimate;
  }
  return time;
}

} // namespace

SmallVector<Operation *> splitContraction(FusionOp fusion, ArrayRef<Candidate> whole,
                                          const CompileOptions &options,
                                          const cpu::Target &target) {
  // A second launch is not worthwhile if the fusion takes less than kNear times the lower bound, or
  // less than kShort microseconds.
  constexpr double kNear = 1.5, kShort = 4;
  bool onGpu = isGpu(getEnclosingCommandDevice(fusion));
  // On CPUs, the fusion is not split if it updates a state in place: the matmul and the addition
  // must be one kernel.
  bool may = onGpu || (fusion.getNumResults() == 1 && !fusion->hasAttr(kUpdatesAttr));
  Operation *contraction = may ? findContraction(fusion) : nullptr;
  if (!contraction)
    return {};
  bool isDone = !whole.empty() && !whole.front().isReference;
  if (isDone && whole.front().estimate < kShort)
    return {};
  if (isDone && !onGpu) {
    double bytes = 0;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(fusion.getInputs()),
                                           SmallVector<Value>(fusion.getResults())))
      bytes += double(storageBytes(cast<RankedTensorType>(value.getType())));
    CostModel cost(chooseProfile(options, target), target, options.threads);
    bool isNarrow = typeOf(contraction->getOperand(0)).getElementType().isBF16();
    double least = cost.least(
        estimateFlops(contraction) / (isNarrow ? cost.machine.libraryBf16Gain : 1), bytes);
    if (whole.front().estimate < kNear * least)
      return {};
  }
  std::optional<FusionSplit> best;
  double time = isDone ? whole.front().estimate : std::numeric_limits<double>::infinity();
  for (Value cut : findSplitPoints(fusion, contraction)) {
    FusionSplit split = splitFusionAt(fusion, cut);
    auto taken = convertsWeightsEachRun(cast<FusionOp>(split.kernels.front()), contraction)
                     ? std::nullopt
                     : timeOf(split, options, target);
    if (!taken || *taken >= time) {
      split.erase();
      continue;
    }
    if (best)
      best->erase();
    best = std::move(split);
    time = *taken;
  }
  if (!best)
    return {};
  fusion.replaceAllUsesWith(best->results);
  fusion.erase();
  return best->kernels;
}

} // namespace dlc

//===- SplitFusion.cpp - splits a fusion around a contraction into two kernels -===//
//
//   x -> matmul, add, transpose -> y          x -> matmul, add -> transpose -> y
//
// There may be no efficient kernel for everything that was fused with a matmul or a convolution
// (epilogue ops, a transpose of an operand or of the result). A library then uses its reference
// implementation or multiplies batch by batch, or generated code uses scalars. The contraction with
// some of the fused ops in one kernel, and the other ops in a kernel before or after it, may be
// faster.
//
//===----------------------------------------------------------------------===//
#include "codegen/lower/GpuKernel.h"
#include "codegen/providers/StructuralKey.h"
#include "codegen/refine/FusionBuilder.h"
#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/place/Cost.h"

#include "mlir/Analysis/SliceAnalysis.h"

#include <cmath>
#include <limits>
#include <map>

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

/// Returns the values at which the fusion can be split, in two groups. The first group is the
/// computed operands of the contraction. The second is the contraction's result and results of
/// later ops, in reverse order, where the ops after the split need no other value from before it.
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

/// Erases those of the values that are unused constants.
void eraseUnusedConstants(ArrayRef<Value> values) {
  for (Value value : llvm::SetVector<Value>(values.begin(), values.end()))
    if (auto constant = value.getDefiningOp<ConstantOp>(); constant && constant->use_empty())
      constant.erase();
}

/// Returns the lowest estimate of the operation's candidates in microseconds; infinity if it has no
/// kernel, or only a reference implementation.
double lowestEstimate(Operation *op) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : readCandidates(op))
    if (!candidate.isReference)
      lowest = std::min(lowest, candidate.estimate);
  return lowest;
}

/// Returns the measured time of the selected kernel in microseconds, if it was measured and is not
/// a reference implementation.
std::optional<double> measuredTime(Operation *op) {
  std::vector<Candidate> candidates = readCandidates(op);
  return candidates.empty() || candidates.front().isReference ? std::nullopt
                                                              : candidates.front().measured;
}

/// Alternative to a fusion: two kernels, or one kernel and views. They are inserted before the
/// fusion.
class SplitFusionChange : public KernelAlternative {
public:
  SplitFusionChange(FusionOp fusion, Value cut) : fusion(fusion) {
    OpBuilder b(fusion);
    ValueRange yielded = getYield(fusion).getOperands();
    auto first = FusionBuilder(b, fusion.getLoc(), cut.getType()).yield(cut);
    kernels.push_back(first);
    if (auto reshapes =
            yielded.size() == 1 ? collectReshapesBetween(yielded.front(), cut) : std::nullopt) {
      IRMapping map;
      map.map(cut, first.getResult(0));
      for (Operation *op : llvm::reverse(*reshapes))
        views.push_back(b.clone(*op, map));
      return;
    }
    SmallVector<Value> rest;
    for (Value value : yielded)
      if (value != cut)
        rest.push_back(value);
    FusionBuilder fused(b, fusion.getLoc(), TypeRange(ValueRange(rest)));
    fused.replaceValue(cut, first.getResult(0));
    kernels.push_back(fused.yield(rest));
    for (Value value : yielded)
      yieldsCut.push_back(value == cut);
  }

  /// Returns the total estimated microseconds of the best kernels; infinity if an operation has no
  /// kernel, or only a reference implementation.
  double estimate(const Refinement &refinement) const {
    double time = 0;
    for (Operation *op : kernels) {
      auto candidates = refinement.candidates(op);
      time += candidates.empty() || candidates.front().isReference
                  ? std::numeric_limits<double>::infinity()
                  : candidates.front().estimate;
    }
    return time;
  }

  /// Measured times are compared only with measured times.
  double savedTime() const override {
    std::optional<double> before = measuredTime(fusion), after = 0;
    for (Operation *op : kernels) {
      std::optional<double> time = measuredTime(op);
      after = after && time ? std::optional(*after + *time) : std::nullopt;
    }
    if (before && after)
      return *before - *after;
    double saved = lowestEstimate(fusion);
    for (Operation *op : kernels)
      saved -= lowestEstimate(op);
    return saved;
  }

  void commit(Refinement &refinement) override {
    SmallVector<Value> inputs(fusion.getInputs()), results;
    unsigned next = 0;
    if (kernels.size() == 1)
      results.push_back(views.empty() ? kernels.front()->getResult(0) : views.back()->getResult(0));
    for (bool isCut : yieldsCut)
      results.push_back(isCut ? kernels.front()->getResult(0) : kernels.back()->getResult(next++));
    fusion.replaceAllUsesWith(results);
    refinement.erase(fusion);
    eraseUnusedConstants(inputs);
  }

  void drop() override {
    SmallVector<Value> inputs;
    for (Operation *op : kernels)
      inputs.append(op->operand_begin(), op->operand_end());
    for (Operation *op : llvm::reverse(views))
      op->erase();
    for (Operation *op : llvm::reverse(kernels)) {
      llvm::erase_if(inputs, [&](Value input) { return input.getDefiningOp() == op; });
      op->erase();
    }
    eraseUnusedConstants(inputs);
  }

  SmallVector<Operation *> kernels;

private:
  FusionOp fusion;
  SmallVector<Operation *> views;
  /// For each result of the fusion, whether it is a result of the first kernel. Empty if there is
  /// only one kernel.
  SmallVector<bool> yieldsCut;
};

class SplitFusionPattern : public RefinePattern {
public:
  constexpr SplitFusionPattern() : RefinePattern("split") {}

  bool isAnchor(FusionOp fusion, const Refinement &refinement) const override {
    // With --kernels, a fusion that a kernel supports is not split.
    if (!refinement.options.kernels.empty() && fusion->hasAttr(kCandidatesAttr))
      return false;
    // On CPUs, the fusion is not split if it updates a state in place: the matmul and the addition
    // must be one kernel.
    bool onGpu = isGpu(getEnclosingCommandDevice(fusion));
    return (onGpu || (fusion.getNumResults() == 1 && !fusion->hasAttr(kUpdatesAttr))) &&
           findContraction(fusion) && !isFastEnough(fusion, onGpu, refinement);
  }

  /// Selects kernels for the parts of all splits together, so that measurements of different
  /// operations alternate. The parts of a committed split may be split again.
  LogicalResult apply(ArrayRef<FusionOp> anchors, Refinement &refinement,
                      Offer offer) const override {
    SplitPoints known;
    SmallVector<FusionOp> next(anchors);
    while (!next.empty()) {
      std::vector<SplitFusionChange> splits;
      SmallVector<Operation *> parts;
      for (FusionOp fusion : next)
        if (std::optional<Value> cut = findBestSplitPoint(fusion, refinement, known)) {
          splits.emplace_back(fusion, *cut);
          llvm::append_range(parts, splits.back().kernels);
        }
      next.clear();
      if (splits.empty())
        break;
      if (failed(refinement.options.select(parts)))
        return failure();
      const auto *part = parts.begin();
      for (SplitFusionChange &split : splits) {
        for (Operation *&kernel : split.kernels)
          kernel = *part++;
        if (!offer(split))
          continue;
        for (Operation *kernel : split.kernels)
          if (auto fusion = cast<FusionOp>(kernel); isAnchor(fusion, refinement))
            next.push_back(fusion);
      }
    }
    return success();
  }

private:
  /// Index of the best split point of each kind of fusion, in the order of findSplitPoints(), so
  /// that repeated layers of a model are searched once. Unset if the unsplit fusion is faster.
  using SplitPoints = std::map<StructuralKey, std::optional<unsigned>>;

  /// Returns true if the fusion takes less than kShort microseconds, or on a CPU less than kNear
  /// times the lower bound. A second launch is then not worthwhile.
  static bool isFastEnough(FusionOp fusion, bool onGpu, const Refinement &refinement) {
    constexpr double kNear = 1.5, kShort = 4;
    double time = lowestEstimate(fusion);
    if (time < kShort)
      return true;
    if (onGpu || !std::isfinite(time))
      return false;
    double bytes = 0;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(fusion.getInputs()),
                                           SmallVector<Value>(fusion.getResults())))
      bytes += double(storageBytes(cast<RankedTensorType>(value.getType())));
    Operation *contraction = findContraction(fusion);
    const CostModel &cost = refinement.cost;
    bool isNarrow = typeOf(contraction->getOperand(0)).getElementType().isBF16();
    return time < kNear * cost.least(estimateFlops(contraction) /
                                         (isNarrow ? cost.machine.libraryBf16Gain : 1),
                                     bytes);
  }

  /// Returns the value at which the fusion is split, if the estimated time of the parts is less
  /// than that of the fusion.
  static std::optional<Value> findBestSplitPoint(FusionOp fusion, const Refinement &refinement,
                                                 SplitPoints &known) {
    Operation *contraction = findContraction(fusion);
    SmallVector<Value> cuts = findSplitPoints(fusion, contraction);
    auto [at, isNew] = known.try_emplace(computeStructuralKey(fusion));
    if (isNew) {
      double best = lowestEstimate(fusion);
      for (auto [i, cut] : llvm::enumerate(cuts)) {
        SplitFusionChange split(fusion, cut);
        double time = convertsWeightsEachRun(cast<FusionOp>(split.kernels.front()), contraction)
                          ? std::numeric_limits<double>::infinity()
                          : split.estimate(refinement);
        split.drop();
        if (time >= best)
          continue;
        best = time;
        at->second = unsigned(i);
      }
    }
    return at->second ? std::optional(cuts[*at->second]) : std::nullopt;
  }
};

} // namespace

const RefinePattern &getSplitFusionPattern() {
  static const SplitFusionPattern pattern;
  return pattern;
}

} // namespace dlc

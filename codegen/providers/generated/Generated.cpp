//===- Generated.cpp - generated code that computes results row by row ----===//
#include "codegen/cpu/emit/Windows.h"
#include "codegen/cpu/kernel/Split.h"
#include "codegen/cpu/kernel/TransposedOperands.h"
#include "codegen/providers/Provider.h"

using namespace mlir;

namespace dlc {

namespace {

/// Callback that returns true if the predicate holds for one of the kernel's loop nests. Loop nests
/// are planned on first use.
using AnyNest = function_ref<bool(function_ref<bool(const cpu::LoopNest &)>)>;

/// Nanoseconds per result element of a transpose in a generated kernel.
double estimateTransposeTime(TransposeOp transpose, const Machine &machine, AnyNest anyNest) {
  auto type = cast<RankedTensorType>(transpose.getResult().getType());
  SmallVector<int64_t> strides = cpu::getOperandStrides(transpose);
  if (type.getNumElements() == 0 || strides.empty() || type.getShape().back() == 1 ||
      strides.back() == 1)
    return 0;
  auto inTiles = [&](const cpu::LoopNest &nest) {
    return nest.across >= 0 && ArrayRef<int64_t>(nest.shape) == type.getShape();
  };
  if (strides.back() <= kNearStep || anyNest(inTiles))
    return 1 / machine.turned;
  // Vector lanes are gathered element by element. If the stride is a multiple of `kAliasedStride`
  // bytes, all their cache lines map to a few cache sets and evict each other once the row has more
  // than `kAliasedElements` elements.
  constexpr int64_t kAliasedStride = 4096, kAliasedElements = 8;
  int64_t bytes = strides.back() * ref::elementBytes(type.getElementType());
  return 1 / (bytes % kAliasedStride == 0 && type.getShape().back() > kAliasedElements
                  ? machine.gatheredAliased
                  : machine.gathered);
}

/// Estimated microseconds of a generated kernel that computes the fusion row by row.
double estimate(FusionOp normal, const cpu::KernelPlan &plan, const CostModel &cost,
                const cpu::Target &target) {
  const Machine &machine = cost.machine;
  double nanoseconds = 0, counted = 0;
  std::optional<std::vector<cpu::LoopNest>> nests;
  auto anyNest = [&](function_ref<bool(const cpu::LoopNest &)> is) {
    if (!nests)
      nests = cpu::planNests(normal, target);
    return llvm::any_of(*nests, is);
  };
  for (Operation &op : normal.getBody().front().without_terminator()) {
    double results = double(cast<RankedTensorType>(op.getResult(0).getType()).getNumElements());
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      auto a = cast<RankedTensorType>(matmul.getA().getType()),
           b = cast<RankedTensorType>(matmul.getB().getType());
      double flops =
          2 * results * double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
      double bytes = double(ref::elementBytes(b.getElementType()) * b.getDimSize(b.getRank() - 1) *
                            b.getDimSize(b.getRank() - 2));
      // A matmul's vector lanes are the columns of a result row; if there is one column, they run
      // along the reduction dimension.
      bool single = !matmul.getTransposeA() && matmul.getY().getType().getShape().back() == 1;
      bool inner = single || (bytes <= machine.firstLevelBytes && !matmul.getTransposeB());
      double filled =
          single ? 1 : std::min(1.0, double(b.getDimSize(b.getRank() - 1)) / cost.lanes);
      nanoseconds +=
          flops / (inner ? machine.innerProductGflops * filled : machine.outerProductGflops);
      counted += flops;
    } else if (isa<ConvOp, ConvTransposeOp>(op)) {
      auto w = cast<RankedTensorType>(op.getOperand(1).getType());
      double flops = 2 * results * double(w.getNumElements()) /
                     double(std::max<int64_t>(1, w.getDimSize(isa<ConvOp>(op) ? 0 : 1)));
      std::optional<double> steps;
      if (isa<ConvOp>(op))
        steps = cpu::countRowVectorOps(&op, target);
      nanoseconds += steps ? *steps / machine.rowSteps : flops / machine.scalarGflops;
      counted += flops;
    } else if (isa<MaxPoolOp, AvgPoolOp>(op)) {
      auto window =
          isa<MaxPoolOp>(op) ? cast<MaxPoolOp>(op).getWindow() : cast<AvgPoolOp>(op).getWindow();
      double taps = results;
      for (int64_t size : window)
        taps *= double(size);
      double rate = isa<MaxPoolOp>(op) ? machine.maximumGigataps : machine.averageGigataps;
      std::optional<double> steps = cpu::countRowVectorOps(&op, target);
      nanoseconds += steps ? *steps / machine.rowSteps : taps / rate;
      counted += taps;
    } else if (auto concat = dyn_cast<ConcatOp>(op); concat && isInterleavingConcat(concat)) {
      nanoseconds += results / machine.turned;
    } else if (concat) {
      // A vector with lanes from different concat operands is selected from all of them, unless the
      // loop nest traverses one operand after the other.
      if (int64_t(concat.getAxis()) ==
              cast<RankedTensorType>(concat->getResult(0).getType()).getRank() - 1 &&
          !anyNest(
              [](const cpu::LoopNest &nest) { return nest.joined || nest.stores[0].axis >= 0; }))
        nanoseconds += results * double(concat->getNumOperands()) / machine.joined;
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      nanoseconds += results * estimateTransposeTime(transpose, cost.machine, anyNest);
    }
  }
  nanoseconds += std::max(0.0, plan.flops - counted) / machine.elementGflops;
  nanoseconds += plan.rows * machine.rowNanoseconds;
  double cores = cost.coresFor(plan);
  return cost.ended(std::max(nanoseconds / cores, cost.traffic(plan.bytes, cores)), machine.launch,
                    cores);
}

class GeneratedProvider : public Provider {
public:
  GeneratedProvider()
      : Provider({.name = "generated",
                  .description = "generated code, row by row, for any operation",
                  .kind = KernelKind::Host,
                  .family = "rows",
                  .acceptsPartialBody = true}) {}

  void propose(CandidateCollector &collector) const override {
    if (!collector.fusion)
      return;
    std::string why;
    FusionOp normal = collector.normal(why);
    if (!normal)
      return collector.refuse(about.name, why);
    const cpu::Target &target = collector.selection.target;
    cpu::KernelPlan plan = cpu::planKernel(normal, target);
    collector.add({"generated", "generated", {}, estimate(normal, plan, collector.cost, target)});
  }

  FailureOr<Schedule> schedule(FusionOp, FusionOp normal, const cpu::Target &target, bool,
                               std::string &) const override {
    return planRowSchedule(normal, target);
  }
};

} // namespace

const Provider &provide::generated() {
  static const GeneratedProvider provider;
  return provider;
}

} // namespace dlc

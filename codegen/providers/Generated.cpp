//===- Generated.cpp - generated code that makes results row by row --------===//
#include "codegen/cpu/Split.h"
#include "codegen/providers/Provider.h"

using namespace mlir;

namespace dlc {

namespace {

/// Microseconds of a body pulled row by row.
double estimate(FusionOp normal, const cpu::KernelPlan &plan, const CostModel &cost) {
  const Machine &machine = cost.machine;
  double nanoseconds = 0, counted = 0;
  for (Operation &op : normal.getBody().front().without_terminator()) {
    double results = double(cast<RankedTensorType>(op.getResult(0).getType()).getNumElements());
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      auto a = cast<RankedTensorType>(matmul.getA().getType()),
           b = cast<RankedTensorType>(matmul.getB().getType());
      double flops =
          2 * results * double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
      double bytes = double(ref::elementBytes(b.getElementType()) * b.getDimSize(b.getRank() - 1) *
                            b.getDimSize(b.getRank() - 2));
      bool inner = bytes <= machine.firstLevelBytes && !matmul.getTransposeB();
      // A row's lanes run along its columns.
      double filled = std::min(1.0, double(b.getDimSize(b.getRank() - 1)) / cost.lanes);
      nanoseconds +=
          flops / (inner ? machine.innerProductGflops * filled : machine.outerProductGflops);
      counted += flops;
    } else if (isa<ConvOp, ConvTransposeOp>(op)) {
      auto w = cast<RankedTensorType>(op.getOperand(1).getType());
      double flops = 2 * results * double(w.getNumElements()) /
                     double(std::max<int64_t>(1, w.getDimSize(isa<ConvOp>(op) ? 0 : 1)));
      nanoseconds += flops / machine.scalarGflops;
      counted += flops;
    } else if (isa<MaxPoolOp, AvgPoolOp>(op)) {
      auto window =
          isa<MaxPoolOp>(op) ? cast<MaxPoolOp>(op).getWindow() : cast<AvgPoolOp>(op).getWindow();
      double taps = results;
      for (int64_t size : window)
        taps *= double(size);
      nanoseconds +=
          taps / (isa<MaxPoolOp>(op) ? machine.maximumGigataps : machine.averageGigataps);
      counted += taps;
    } else if (auto concat = dyn_cast<ConcatOp>(op)) {
      // Lanes that lie in different operands are chosen from all of them.
      if (int64_t(concat.getAxis()) ==
          cast<RankedTensorType>(concat->getResult(0).getType()).getRank() - 1)
        nanoseconds += results * double(concat->getNumOperands()) / machine.joined;
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      // Lanes that are strided in memory are gathered one by one.
      auto permutation = transpose.getPermutation();
      if (!permutation.empty() && permutation.back() != int64_t(permutation.size()) - 1)
        nanoseconds += results / machine.gathered;
    }
  }
  nanoseconds += std::max(0.0, plan.flops - counted) / machine.elementGflops;
  double cores = cost.coresFor(plan);
  return cost.ended(std::max(nanoseconds / cores, cost.traffic(plan.bytes, cores)), machine.launch,
                    cores);
}

class Generated : public Provider {
public:
  Generated()
      : Provider({.name = "generated",
                  .does = "generated code, row by row: anything",
                  .form = KernelForm::Host,
                  .family = "rows",
                  .takesAnyBody = true}) {}

  void propose(Proposals &proposals) const override {
    if (!proposals.fusion)
      return;
    std::string why;
    FusionOp normal = proposals.normal(why);
    if (!normal)
      return proposals.refuse(about.name, why);
    cpu::KernelPlan plan = cpu::planKernel(normal, proposals.situation.target);
    proposals.add({"generated", "generated", {}, estimate(normal, plan, proposals.cost)});
  }

  FailureOr<Schedule> schedule(FusionOp, FusionOp normal, const cpu::Target &target, bool,
                               std::string &) const override {
    return planRows(normal, target);
  }
};

} // namespace

const Provider &provide::generated() {
  static const Generated provider;
  return provider;
}

} // namespace dlc

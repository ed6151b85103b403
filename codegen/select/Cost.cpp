//===- Cost.cpp - how long kernels may take, by arithmetic alone ----------===//
#include "codegen/select/Cost.h"

using namespace mlir;

namespace dlc {

CostModel::CostModel(const cpu::Target &target, int threads) : threads(std::max(1, threads)) {
  if (target.vectorBits < 512) {
    machine.vectorGflops /= 2;
    machine.elementGflops /= 1.5;
  }
}

/// Nanoseconds for bytes that pass once.
double CostModel::traffic(double bytes) const {
  return bytes > machine.cacheBytes ? bytes / machine.memoryGigabytes : bytes / (machine.cacheGigabytes * threads);
}

double CostModel::call(const LibraryCall &call) const {
  return std::max(call.flops / (machine.vectorGflops * threads), traffic(call.bytes)) / 1000 + machine.callMicroseconds;
}

double CostModel::rows(FusionOp normal, const cpu::KernelPlan &plan) const {
  double gflops = machine.elementGflops, moved = 0;
  for (Operation &op : normal.getBody().front()) {
    // Products and windows come out of the pull emitter without blocks of registers.
    if (isa<MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(op))
      gflops = machine.scalarGflops;
    // Lanes that are strided in memory are gathered one by one.
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      auto permutation = transpose.getPermutation();
      if (!permutation.empty() && permutation.back() != int64_t(permutation.size()) - 1)
        moved += double(cast<RankedTensorType>(transpose.getY().getType()).getNumElements());
    }
  }
  double units = std::max(1.0, double(plan.extent) / double(std::max<int64_t>(1, plan.grain)));
  double used = std::min(double(threads), units);
  double nanoseconds = std::max(plan.flops / (gflops * used) + moved / (machine.gatherGigaelements * used), traffic(plan.bytes));
  return nanoseconds / 1000 + machine.launchMicroseconds + (used > 1 ? machine.wakeMicroseconds : 0);
}

double CostModel::contract(const cpu::ContractFusion &contract, const cpu::KernelPlan &plan) const {
  const cpu::ContractSpec &spec = contract.spec;
  const cpu::ContractPlan &schedule = contract.plan;
  double rate = machine.vectorGflops * (spec.elementA.isF64() ? 0.5 : 1);
  double batches = double(spec.batchSize()), m = double(spec.m), n = double(spec.n), k = double(spec.k);
  // Short blocks leave sums waiting for one another and load B for few rows.
  double height = double(schedule.blockHeight());
  double registers = std::min(1.0, (height + 1) / 10);
  double columns = n / (double(schedule.panels) * double(schedule.panelColumns));
  double flops = 2 * batches * m * n * k;
  double units = std::max(1.0, double(plan.extent) / double(std::max<int64_t>(1, plan.grain)));
  double used = std::min(double(threads), units);
  double nanoseconds = flops / (rate * used * registers * columns);
  // Every copied element is written, and read again where it was to be read once.
  double copied = (schedule.packsA ? batches * m * k : 0) + (schedule.packsB ? batches * double(schedule.chunks) * n * k : 0) +
                  (schedule.keepsSums ? batches * m * n : 0);
  nanoseconds += copied * 4 / (machine.cacheGigabytes * used);
  if (schedule.packsB && spec.strideBn != 1)
    nanoseconds += batches * n * k * double(schedule.chunks) / (4 * machine.gatherGigaelements * used);
  return std::max(nanoseconds, traffic(plan.bytes)) / 1000 + machine.launchMicroseconds +
         (used > 1 ? machine.wakeMicroseconds : 0);
}

} // namespace dlc

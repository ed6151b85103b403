//===- OptLevel.cpp - optimization level of each kernel -------------------===//
#include "codegen/lower/OptLevel.h"

#include "codegen/lower/GpuKernel.h"
#include "ir/dlc/Attributes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace dlc {

namespace {

constexpr llvm::StringLiteral kMinimal = "minimal";

/// Maximum increase of the program's estimated time by minimal optimization of kernels, as a
/// fraction: 0.5 %.
constexpr double kShare = 0.005;
/// Arithmetic intensity (operations per byte) above which a kernel is never compiled with minimal
/// optimization. Such kernels must keep values in registers. Minimally optimized code spills them
/// and takes up to five times as long.
constexpr double kFlopsPerByte = 1.5;
/// Estimated slowdown of a memory-bound kernel by minimal optimization: microseconds per launch,
/// plus a fraction of the kernel's time. Measured on 640 kernels of five networks: kernels below
/// 0.3 us took 0.06 us longer, kernels of 1 to 10 us took 29 % longer, and longer kernels took 3 %
/// longer.
constexpr double kPerLaunch = 0.06, kOfTime = 0.3;
/// Assumed memory bandwidth of a launch that has no time estimate, such as the second kernel of a
/// split reduction.
constexpr double kBytesPerMicrosecond = 2e4;

double estimateCommandTime(Operation *command) {
  if (auto estimate = command->getAttrOfType<FloatAttr>(kCommandEstimateAttr))
    return estimate.getValueAsDouble();
  auto launch = dyn_cast<exec::LaunchOp>(command);
  return launch ? launch.getTraffic().convertToDouble() / kBytesPerMicrosecond : 0;
}

/// Time that all launches of a kernel lose by minimal optimization.
struct OptLevelLoss {
  double microseconds = 0;
  /// Whether the loss has an upper bound. False if a launch is compute bound or in a loop.
  bool isBounded = true;
};

OptLevelLoss estimateOptLevelLoss(exec::LaunchOp launch) {
  if (launch->getParentOfType<exec::LoopOp>() ||
      launch.getFlops().convertToDouble() > kFlopsPerByte * launch.getTraffic().convertToDouble())
    return {0, false};
  return {kPerLaunch + kOfTime * estimateCommandTime(launch), true};
}

} // namespace

void chooseOptLevels(ModuleOp module) {
  double time = 0;
  llvm::MapVector<StringRef, OptLevelLoss> losses;
  module.walk([&](Operation *command) {
    time += estimateCommandTime(command);
    if (auto launch = dyn_cast<exec::LaunchOp>(command)) {
      OptLevelLoss one = estimateOptLevelLoss(launch), &all = losses[launch.getKernel()];
      all = {all.microseconds + one.microseconds, all.isBounded && one.isBounded};
    }
  });
  SmallVector<std::pair<double, exec::KernelOp>> cheapest;
  for (auto kernel : module.getOps<exec::KernelOp>()) {
    auto found = losses.find(kernel.getSymName());
    if (!isGpuKernel(kernel) && found != losses.end() && found->second.isBounded)
      cheapest.emplace_back(found->second.microseconds, kernel);
  }
  llvm::stable_sort(cheapest, llvm::less_first());
  double left = kShare * time;
  for (auto [loss, kernel] : cheapest)
    if ((left -= loss) >= 0)
      kernel->setAttr(kOptLevelAttr, StringAttr::get(module.getContext(), kMinimal));
}

bool hasMinimalOptLevel(exec::KernelOp kernel) {
  auto level = kernel->getAttrOfType<StringAttr>(kOptLevelAttr);
  return level && level == kMinimal;
}

} // namespace dlc

//===- OptLevel.cpp - optimization level of each kernel -------------------===//
#include "codegen/lower/OptLevel.h"

#include "codegen/lower/GpuKernel.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace dlc {

namespace {

constexpr llvm::StringLiteral kOptLevelAttr = "opt_level", kMinimal = "minimal";

/// Maximum share of the program's time that fewer optimizations may cost.
constexpr double kShare = 0.005;
/// Above this ratio of operations to bytes, kernels keep values in registers, which code compiled
/// with the least optimization cannot: it takes up to five times as long.
constexpr double kFlopsPerByte = 1.5;
/// Estimated slowdown of memory-bound kernels compiled with the least optimization: microseconds
/// per launch, and share of the kernel's own time. Of 640 kernels of five networks, those below 0.3
/// us took 0.06 us more, those of 1 to 10 us 29 % more, those above 3 %.
constexpr double kPerLaunch = 0.06, kOfTime = 0.3;
/// Assumed bandwidth of launches without an estimate, such as the second kernel of a split
/// reduction.
constexpr double kBytesPerMicrosecond = 2e4;

double estimateOf(Operation *command) {
  if (auto estimate = command->getAttrOfType<FloatAttr>("estimate"))
    return estimate.getValueAsDouble();
  auto launch = dyn_cast<exec::LaunchOp>(command);
  return launch ? launch.getTraffic().convertToDouble() / kBytesPerMicrosecond : 0;
}

/// Time that all launches of a kernel lose together.
struct Loss {
  double microseconds = 0;
  bool isBounded = true; ///< no launch is compute bound or in a loop
};

Loss lossOf(exec::LaunchOp launch) {
  if (launch->getParentOfType<exec::LoopOp>() ||
      launch.getFlops().convertToDouble() > kFlopsPerByte * launch.getTraffic().convertToDouble())
    return {0, false};
  return {kPerLaunch + kOfTime * estimateOf(launch), true};
}

} // namespace

void chooseOptLevels(ModuleOp module) {
  double time = 0;
  llvm::MapVector<StringRef, Loss> losses;
  module.walk([&](Operation *command) {
    time += estimateOf(command);
    if (auto launch = dyn_cast<exec::LaunchOp>(command)) {
      Loss one = lossOf(launch), &all = losses[launch.getKernel()];
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

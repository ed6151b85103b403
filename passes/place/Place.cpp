//===- Place.cpp - assigns a device to each tensor ------------------------===//
#include "ir/dlc/Attributes.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/place/Apply.h"
#include "passes/place/Solve.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace place {
namespace {

struct PlacePass : OptionPass<PlacePass> {
  explicit PlacePass(const ModelOptions &options)
      : OptionPass("dlc-place",
                   "assigns a device to each tensor and inserts transfers between devices",
                   {"device", "place", "forbid-transfers"}, options) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    PlacementCostModel table;
    FailureOr<PlacementOptions> annotations = PlacementOptions::parse(module, options);
    if (failed(annotations))
      return failure();
    std::vector<FunctionPlacement> problems;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FailureOr<FunctionPlacement> problem = buildProblem(function, *annotations, table);
      if (failed(problem) || failed(checkUsable(*problem)))
        return failure();
      problems.push_back(std::move(*problem));
    }
    if (failed(annotations->checkAllMatched(module)))
      return failure();
    for (FunctionPlacement &problem : problems) {
      std::optional<Labels> at = choose(problem, annotations->mode);
      if (!at)
        return failure();
      FailureOr<std::vector<InsertedTransfer>> crossings =
          applyPlacement(problem, *at, options.forbidTransfers);
      if (failed(crossings))
        return failure();
      if (problem.devices.size() > 1)
        module->setAttr(kPlacementAttr,
                        describePlacement(problem, *at, *crossings, *annotations, table));
      simplifyTransfers(problem.function);
    }
    return success();
  }

  static LogicalResult checkUsable(const FunctionPlacement &problem) {
    func::FuncOp function = problem.function;
    for (OnAttr device : problem.devices)
      if (const runtime::DeviceKind &kind = getDeviceKind(device); !kind.table)
        return function.emitError()
               << "'" << device.getDeviceName() << "' is not a device; " << kind.why;
    if (problem.devices.size() > kMaxLabels)
      return function.emitError() << "required: at most " << kMaxLabels
                                  << " devices; found: " << problem.devices.size();
    if (problem.devices.size() == 1)
      return success();
    WalkResult calls = function.walk([](func::CallOp call) {
      call.emitError("calls must be inlined before several devices are placed; run --inline");
      return WalkResult::interrupt();
    });
    return failure(calls.wasInterrupted());
  }

  static std::optional<Labels> choose(const FunctionPlacement &problem, PlacementMode mode) {
    if (Labels only = problem.problem.allAt(0);
        problem.devices.size() == 1 && problem.problem.fits(only))
      return only;
    if (mode == PlacementMode::Split)
      if (Labels at = split(problem.problem); problem.problem.fits(at))
        return at;
    std::optional<Labels> at = solveWithinCapacity(problem.problem);
    if (!at)
      reportTooLittle(problem);
    return at;
  }

  static void reportTooLittle(const FunctionPlacement &problem) {
    func::FuncOp function = problem.function;
    std::vector<int64_t> needed =
        problem.problem.memory(problem.problem.allAt(problem.problem.preferred));
    InFlightDiagnostic error =
        function.emitError()
        << "found no placement within the memory limits; on one device the model takes about "
        << needed[size_t(problem.problem.preferred)] << " bytes; limits:";
    for (auto [label, device] : llvm::enumerate(problem.devices))
      if (int64_t bytes = problem.problem.capacity[label])
        error << " " << device.getDeviceName() << " " << bytes;
    error << "; increase a limit, or add a device (auto:cpu=2GiB,cpu:1=2GiB,cpu:2)";
  }
};

} // namespace
} // namespace place

std::unique_ptr<Pass> createPlacePass(const ModelOptions &options) {
  return std::make_unique<place::PlacePass>(options);
}

} // namespace dlc

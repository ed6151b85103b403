//===- Place.cpp - puts a device on every tensor --------------------------===//
#include "passes/Devices.h"
#include "passes/Passes.h"
#include "passes/place/Apply.h"
#include "passes/place/Solve.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace place {
namespace {

struct PlacePass : PassWrapper<PlacePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlacePass)

  PlacePass() = default;
  explicit PlacePass(const PlaceOptions &options) : costs(options.costs) {
    device = options.device;
    places = options.places;
    forbid = options.forbidTransfers;
  }
  PlacePass(const PlacePass &other) : PassWrapper(other), costs(other.costs) {
    device = other.device.getValue();
    places = llvm::ArrayRef<std::string>(other.places);
    forbid = other.forbid.getValue();
  }

  StringRef getArgument() const final { return "dlc-place"; }
  StringRef getDescription() const final {
    return "puts a device on every tensor, and transfers where something crosses";
  }

  void runOnOperation() final {
    CostTable estimates;
    const CostTable &table = costs ? *costs : estimates;
    FailureOr<Annotations> annotations = Annotations::parse(
        getOperation(), {device, std::vector<std::string>(places.begin(), places.end()), forbid});
    if (failed(annotations))
      return signalPassFailure();
    std::vector<FunctionProblem> problems;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FailureOr<FunctionProblem> problem = buildProblem(function, *annotations, table);
      if (failed(problem) || failed(checkUsable(*problem)))
        return signalPassFailure();
      problems.push_back(std::move(*problem));
    }
    if (failed(annotations->checkAllMatched(getOperation())))
      return signalPassFailure();
    for (FunctionProblem &problem : problems) {
      std::optional<Labels> at = choose(problem, annotations->mode);
      if (!at)
        return signalPassFailure();
      FailureOr<std::vector<Crossing>> crossings = applyPlacement(problem, *at, forbid);
      if (failed(crossings))
        return signalPassFailure();
      if (problem.devices.size() > 1)
        getOperation()->setAttr(kPlacementAttr,
                                describePlacement(problem, *at, *crossings, *annotations, table));
      tidyTransfers(problem.function);
    }
  }

  static LogicalResult checkUsable(const FunctionProblem &problem) {
    func::FuncOp function = problem.function;
    for (OnAttr device : problem.devices)
      if (const runtime::DeviceKind &kind = kindOf(device); !kind.table)
        return function.emitError()
               << "'" << device.getDeviceName() << "' is not a device; " << kind.why;
    if (problem.devices.size() > kMaxLabels)
      return function.emitError() << "at most " << kMaxLabels << " devices can be placed; found "
                                  << problem.devices.size();
    if (problem.devices.size() == 1)
      return success();
    WalkResult calls = function.walk([](func::CallOp call) {
      call.emitError("calls must be inlined before several devices are placed; run --inline");
      return WalkResult::interrupt();
    });
    return failure(calls.wasInterrupted());
  }

  static std::optional<Labels> choose(const FunctionProblem &problem, Mode mode) {
    if (Labels only = problem.problem.allAt(0);
        problem.devices.size() == 1 && problem.problem.fits(only))
      return only;
    if (mode == Mode::Split)
      if (Labels at = split(problem.problem); problem.problem.fits(at))
        return at;
    std::optional<Labels> at = solveWithin(problem.problem);
    if (!at)
      reportTooLittle(problem);
    return at;
  }

  static void reportTooLittle(const FunctionProblem &problem) {
    func::FuncOp function = problem.function;
    std::vector<int64_t> needed =
        problem.problem.memory(problem.problem.allAt(problem.problem.preferred));
    InFlightDiagnostic error = function.emitError()
                               << "found no placement within the memory given; on one device it "
                                  "takes about "
                               << needed[size_t(problem.problem.preferred)] << " bytes; given:";
    for (auto [label, device] : llvm::enumerate(problem.devices))
      if (int64_t bytes = problem.problem.capacity[label])
        error << " " << device.getDeviceName() << " " << bytes;
    error << "; give more, or one more device (auto:cpu=2GiB,cpu:1=2GiB,cpu:2)";
  }

  std::shared_ptr<const CostTable> costs;
  Option<std::string> device{*this, "device", llvm::cl::desc("the default device's name"),
                             llvm::cl::init("cpu")};
  ListOption<std::string> places{
      *this, "place",
      llvm::cl::desc("PATTERN=DEVICE, input:PATTERN=DEVICE, output:PATTERN=DEVICE; or all other "
                     "operations: auto:DEVICE;DEVICE or split:DEVICE;DEVICE")};
  Option<std::string> forbid{*this, "forbid-transfers",
                             llvm::cl::desc("names that may not need a transfer"),
                             llvm::cl::init("")};
};

} // namespace
} // namespace place

std::unique_ptr<Pass> createPlacePass(const PlaceOptions &options) {
  return std::make_unique<place::PlacePass>(options);
}

} // namespace dlc

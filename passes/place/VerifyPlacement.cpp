//===- VerifyPlacement.cpp - verifies that only dlc.transfer crosses devices ---===//
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

/// First tensor of an operation that is not of rank 0: its device, and its role in error messages,
/// such as "operand 0".
struct TensorPlacement {
  OnAttr device;
  std::string what;
};

LogicalResult checkHaveDevices(Operation *op, ValueRange values, StringRef what) {
  for (auto [i, value] : llvm::enumerate(values))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !deviceOf(type))
      return op->emitError() << what << " " << i << " has no device: " << type
                             << "; run dlc-place first, or write tensor<..., #dlc.on<cpu>>";
  return success();
}

/// Checks that all tensors of the module have a device. Reports the first one that has none.
LogicalResult checkHaveDevices(ModuleOp module) {
  auto isDlc = [](Operation *op) { return op && isa_and_nonnull<DlcDialect>(op->getDialect()); };
  WalkResult walked = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(checkHaveDevices(op, block.getArguments(), "argument")))
          return WalkResult::interrupt();
    if ((isDlc(op) || isDlc(op->getParentOp())) &&
        (failed(checkHaveDevices(op, op->getOperands(), "operand")) ||
         failed(checkHaveDevices(op, op->getResults(), "result"))))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Checks that all tensors of one operation are on one device. For a branch or loop, these include
/// all tensors in its regions.
class SameDeviceChecker {
public:
  explicit SameDeviceChecker(Operation *op, StringRef who = "an operation") : op(op), who(who) {}

  LogicalResult check(Operation *at, Value value, const Twine &what) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return success();
    OnAttr device = deviceOf(type);
    if (!seen) {
      seen = TensorPlacement{device, what.str()};
      return success();
    }
    if (device.sameDevice(seen->device))
      return success();
    InFlightDiagnostic error = at->emitError() << "all tensors of " << who
                                               << " must be on one device: " << seen->what
                                               << " is on " << seen->device.getDeviceName() << ", "
                                               << what.str() << " is on " << device.getDeviceName();
    if (at == op)
      return error << "; insert a dlc.transfer between them";
    error << "; insert a dlc.transfer before or after it";
    error.attachNote(op->getLoc()) << "all parts of this operation must be on one device";
    return error;
  }

  LogicalResult checkValues() {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (failed(check(op, operand, "operand " + Twine(i))))
        return failure();
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (failed(check(op, result, "result " + Twine(i))))
        return failure();
    return success();
  }

  LogicalResult checkRegions() {
    WalkResult walked = op->walk([&](Operation *inner) {
      for (auto [i, operand] : llvm::enumerate(inner->getOperands()))
        if (failed(check(inner, operand, inner->getName().getStringRef() + " operand " + Twine(i))))
          return WalkResult::interrupt();
      for (auto [i, result] : llvm::enumerate(inner->getResults()))
        if (failed(check(inner, result, inner->getName().getStringRef() + " result " + Twine(i))))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

private:
  Operation *op;
  StringRef who;
  std::optional<TensorPlacement> seen;
};

struct VerifyPlacementPass : PassWrapper<VerifyPlacementPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPlacementPass)

  StringRef getArgument() const final { return "dlc-verify-placement"; }
  StringRef getDescription() const final { return "checks that only dlc.transfer crosses devices"; }

  /// Checks one operation. Operations nested in a branch or loop that was checked as a whole are
  /// skipped.
  WalkResult checkOperation(Operation *op) {
    if (!isa_and_nonnull<DlcDialect>(op->getDialect()) || isa<TransferOp>(op))
      return WalkResult::advance();
    SameDeviceChecker one(op, isa<LoopOp>(op) ? "a loop"
                              : isa<IfOp>(op) ? "a branch"
                                              : "an operation");
    if (!one.checkValues().succeeded()) {
      ok = false;
      return WalkResult::skip();
    }
    if (op->getNumRegions() > 0)
      ok &= succeeded(one.checkRegions());
    return op->getNumRegions() > 0 ? WalkResult::skip() : WalkResult::advance();
  }

  void runOnOperation() final {
    if (failed(checkHaveDevices(getOperation())))
      return signalPassFailure();
    ok = true;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) { return checkOperation(op); });
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  bool ok = true;
};

} // namespace

std::unique_ptr<Pass> createVerifyPlacementPass() {
  return std::make_unique<VerifyPlacementPass>();
}

} // namespace dlc

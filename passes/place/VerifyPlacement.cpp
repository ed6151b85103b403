//===- VerifyPlacement.cpp - nothing crosses devices but dlc.transfer -----===//
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

/// The device of the first tensor that is no 0-d scalar, and whose it is.
struct Seen {
  OnAttr device;
  std::string what;
};

LogicalResult checkPlaced(Operation *op, Value value, const Twine &what) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || deviceOf(type))
    return success();
  return op->emitError() << what.str() << " has no device: " << type
                         << "; run dlc-place first, or write tensor<..., #dlc.on<cpu>>";
}

LogicalResult checkOneDevice(Operation *op) {
  std::optional<Seen> seen;
  auto check = [&](Value value, const Twine &what) -> LogicalResult {
    if (failed(checkPlaced(op, value, what)))
      return failure();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return success();
    OnAttr device = deviceOf(type);
    if (!seen) {
      seen = Seen{device, what.str()};
      return success();
    }
    if (device.sameDevice(seen->device))
      return success();
    return op->emitError() << "all tensors of an operation must be on one device: " << seen->what
                           << " is on " << seen->device.getDeviceName() << ", " << what.str()
                           << " is on " << device.getDeviceName()
                           << "; put a dlc.transfer between them";
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(check(operand, "operand " + Twine(i))))
      return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (failed(check(result, "result " + Twine(i))))
      return failure();
  return success();
}

struct VerifyPlacementPass : PassWrapper<VerifyPlacementPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPlacementPass)

  StringRef getArgument() const final { return "dlc-verify-placement"; }
  StringRef getDescription() const final { return "checks that only dlc.transfer crosses devices"; }

  void runOnOperation() final {
    bool ok = true;
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (auto [i, argument] : llvm::enumerate(block.getArguments()))
            ok &= succeeded(checkPlaced(op, argument, "argument " + Twine(i)));
      if (!isa_and_nonnull<DlcDialect>(op->getDialect()))
        return;
      // These carry values of several devices by their nature.
      if (isa<TransferOp, YieldOp, IfOp, LoopOp>(op)) {
        for (auto [i, result] : llvm::enumerate(op->getResults()))
          ok &= succeeded(checkPlaced(op, result, "result " + Twine(i)));
        return;
      }
      ok &= succeeded(checkOneDevice(op));
    });
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyPlacementPass() {
  return std::make_unique<VerifyPlacementPass>();
}

} // namespace dlc

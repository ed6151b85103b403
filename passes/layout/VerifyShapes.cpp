//===- VerifyShapes.cpp - verifies that all shapes are static -------------===//
#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

struct VerifyShapesPass : PassWrapper<VerifyShapesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyShapesPass)

  StringRef getArgument() const final { return "dlc-verify-shapes"; }
  StringRef getDescription() const final { return "checks that every shape is static"; }

  void runOnOperation() final {
    markAllAnalysesPreserved();
    WalkResult result = getOperation().walk([](Operation *op) {
      for (Type each : op->getResultTypes())
        if (auto type = dyn_cast<RankedTensorType>(each); type && !type.hasStaticShape()) {
          op->emitError("its shape ")
              << type << " is dynamic; give the shapes of the inputs (--shape NAME=1x3x224x224)";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyShapesPass() { return std::make_unique<VerifyShapesPass>(); }

} // namespace dlc

//===- Recompute.cpp - the recompute pass: what is kept for the backward pass ===//
#include "passes/grad/Recompute.h"
#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace grad {

Operation *copyOf(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  auto at = [&](Value value) { return mapping.lookupOrDefault(value); };
  if (auto pool = dyn_cast<MaxPoolPositionsOp>(op)) {
    auto again = MaxPoolOp::create(builder, op->getLoc(), pool.getY().getType(), at(pool.getX()),
                                   pool.getWindowAttr(), pool.getStridesAttr(),
                                   pool.getDilationsAttr(), pool.getLowAttr(), pool.getHighAttr());
    mapping.map(pool.getY(), again.getY());
    return again;
  }
  auto norm = dyn_cast<BatchNormTrainOp>(op);
  if (!norm)
    return builder.clone(*op, mapping);
  auto again = BatchNormOp::create(builder, op->getLoc(), at(norm.getX()), at(norm.getScale()),
                                   at(norm.getBias()), norm.getMean(), norm.getVariance(),
                                   norm.getEpsAttr());
  mapping.map(norm.getY(), again.getY());
  return again;
}

namespace {

/// Whether there is a backward pass: something is kept from run to run and changes.
bool isStep(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, "dlc.state"))
      return true;
  return false;
}

struct RecomputePass : PassWrapper<RecomputePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecomputePass)

  RecomputePass() = default;
  explicit RecomputePass(const RecomputeOptions &options) {
    maxMemory = options.maxMemory;
    mayFail = options.mayFail;
  }
  RecomputePass(const RecomputePass &other) : PassWrapper(other) {
    maxMemory = other.maxMemory.getValue();
    mayFail = other.mayFail.getValue();
  }

  StringRef getArgument() const final { return "dlc-recompute"; }
  StringRef getDescription() const final {
    return "computes again what is not worth keeping for the backward pass";
  }

  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !isStep(function))
        continue;
      recomputeCheap(function);
      if (maxMemory <= 0)
        continue;
      int64_t estimate = recomputeUntil(function, maxMemory);
      getOperation()->setAttr(kEstimateAttr, Builder(&getContext()).getI64IntegerAttr(estimate));
      if (estimate > maxMemory && !mayFail) {
        function.emitError("required: at most ")
            << maxMemory.getValue() << " bytes of memory; found: " << estimate
            << " with all computed again that can be; allow as much, or make the batch smaller or "
               "take it in more micro-batches";
        return signalPassFailure();
      }
    }
  }

  Option<int64_t> maxMemory{
      *this, "max-memory",
      llvm::cl::desc("bytes of state, constants and values that are alive together; 0: any"),
      llvm::cl::init(0)};
  Option<bool> mayFail{*this, "may-fail", llvm::cl::desc("go as far as possible, without an error"),
                       llvm::cl::init(false)};
};

} // namespace
} // namespace grad

std::unique_ptr<Pass> createRecomputePass(const RecomputeOptions &options) {
  return std::make_unique<grad::RecomputePass>(options);
}

} // namespace dlc

//===- Recompute.cpp - the recompute pass: rematerialization for the backward pass ----===//
#include "passes/grad/recompute/Recompute.h"
#include "ir/dlc/Attributes.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace grad {

Operation *cloneForRecompute(Operation *op, OpBuilder &builder, IRMapping &mapping) {
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

/// Returns whether the function is a training step: it returns new values of states.
bool isTrainingStep(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, kStateAttr))
      return true;
  return false;
}

struct RecomputePass : OptionPass<RecomputePass> {
  RecomputePass(const ModelOptions &options, bool mayFail)
      : OptionPass("dlc-recompute",
                   "recomputes values in the backward pass: cheap ones always, others until memory "
                   "fits max-memory",
                   {"max-memory"}, options) {
    this->mayFail = mayFail;
  }
  RecomputePass(const RecomputePass &other) : OptionPass(other) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || !isTrainingStep(function))
        continue;
      recomputeCheap(function);
      if (options.maxMemory <= 0)
        continue;
      int64_t estimate = recomputeToMemoryLimit(function, options.maxMemory);
      module->setAttr(kEstimateAttr, Builder(&getContext()).getI64IntegerAttr(estimate));
      if (estimate > options.maxMemory && !mayFail)
        return function.emitError("required: at most ")
               << options.maxMemory << " bytes of memory; found: " << estimate
               << " with maximum recomputation; increase the limit, reduce the batch size, or use "
                  "more micro-batches";
    }
    return success();
  }

  Option<bool> mayFail{
      *this, "may-fail",
      llvm::cl::desc("reduce memory as far as possible, without an error if it exceeds the limit"),
      llvm::cl::init(false)};
};

} // namespace
} // namespace grad

std::unique_ptr<Pass> createRecomputePass(const ModelOptions &options, bool mayFail) {
  return std::make_unique<grad::RecomputePass>(options, mayFail);
}

} // namespace dlc

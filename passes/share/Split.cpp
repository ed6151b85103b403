//===- Split.cpp - tensor parallelism: splits parameters over ranks -------===//
//
//   matmul(x, W1 by columns) -> gelu -> matmul(., W2 by rows) -> partial sums -> all_reduce
//
// Runs after differentiation: gradients and optimizer updates are ordinary operations, and are
// split by the same rules.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Dialect.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/share/Rewrite.h"
#include "passes/share/SplitNames.h"

using namespace mlir;

namespace dlc {

namespace {

struct SplitPass : OptionPass<SplitPass> {
  explicit SplitPass(const ModelOptions &options)
      : OptionPass("dlc-split",
                   "splits annotated parameters over the ranks of a world, and the operations that "
                   "use them",
                   {"split", "world"}, options) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    if (failed(share::annotateSplitParameters(module, options)))
      return failure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FailureOr<int64_t> ranks = share::getRankCount(function);
      if (failed(ranks))
        return failure();
      if (*ranks == 0)
        continue;
      if (failed(checkForm(function)))
        return failure();
      FailureOr<share::ProgramShares> shares = share::computeShares(function, *ranks);
      if (failed(shares))
        return failure();
      share::rewriteForRanks(function, *shares);
    }
    return success();
  }

  static LogicalResult checkForm(func::FuncOp function) {
    WalkResult gradients = function.walk([](GradientOp op) {
      op.emitError("the gradient must be expanded before parameters are split; run --dlc-grad");
      return WalkResult::interrupt();
    });
    if (gradients.wasInterrupted())
      return failure();
    if (function.getBody().hasOneBlock())
      return success();
    return function.emitError(
        "has several blocks; required to split parameters over ranks: one block");
  }
};

} // namespace

std::unique_ptr<Pass> createSplitPass(const ModelOptions &options) {
  return std::make_unique<SplitPass>(options);
}

} // namespace dlc

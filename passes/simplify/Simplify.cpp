//===- Simplify.cpp - the dlc-simplify pass -------------------------------===//
#include "ir/dlc/Dialect.h"
#include "passes/Passes.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace {

struct SimplifyPass : PassWrapper<SimplifyPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyPass)

  StringRef getArgument() const final { return "dlc-simplify"; }
  StringRef getDescription() const final {
    return "folds constants, simplifies algebraically and removes dead code";
  }

  LogicalResult initialize(MLIRContext *context) final {
    subgradientPatterns = patternsFor(context, Exactness::Subgradients);
    valuePatterns = patternsFor(context, Exactness::Values);
    RewritePatternSet set(context);
    addConstantFolding(set);
    addActivations(set);
    activations = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  static FrozenRewritePatternSet patternsFor(MLIRContext *context, Exactness exactness) {
    RewritePatternSet set(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (op.getDialectNamespace() == "dlc")
        op.getCanonicalizationPatterns(set, context);
    addConstantFolding(set);
    addArithmetic(set, exactness);
    addActivations(set);
    addConvFolding(set);
    addPadFolding(set);
    addTaps(set);
    addIndexing(set, exactness);
    addConcats(set, exactness);
    addBoxPatterns(set);
    addTransposes(set);
    addNorms(set);
    addMatmuls(set);
    return FrozenRewritePatternSet(std::move(set));
  }

  void runOnOperation() final {
    bool isDifferentiated =
        getOperation()->walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
    const FrozenRewritePatternSet &patterns =
        isDifferentiated ? subgradientPatterns : valuePatterns;
    // Activations are matched first, because matmul patterns would move the constants of
    // activations out of the operands.
    apply(activations);
    // CSE and patterns alternate: CSE makes more values single-use, which enables more patterns,
    // and patterns make more operations equal.
    for (int round = 0; round < 4; ++round) {
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(getOperation());
      bool merged = false;
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &merged);
      bool rewritten = apply(patterns);
      if (!merged && !rewritten)
        break;
    }
  }

  /// Applies the patterns to all regions of the module. Returns whether any of them has rewritten
  /// something.
  bool apply(const FrozenRewritePatternSet &patterns) {
    GreedyRewriteConfig config;
    // Region simplification is disabled, because regions are loop bodies and branches, whose blocks
    // must not be merged.
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    bool rewritten = false;
    for (Region &region : getOperation()->getRegions()) {
      bool changed = false;
      // Failure to reach a fixed point is ignored, because the result is correct at any point.
      (void)applyPatternsGreedily(region, patterns, config, &changed);
      rewritten |= changed;
    }
    return rewritten;
  }

  /// Pattern sets for programs that contain a dlc.gradient, and for those that do not.
  FrozenRewritePatternSet subgradientPatterns, valuePatterns;
  FrozenRewritePatternSet activations;
};

} // namespace

std::unique_ptr<Pass> createSimplifyPass() { return std::make_unique<SimplifyPass>(); }

} // namespace dlc

//===- Pipeline.cpp - the phases of a compilation in order ----------------===//
#include "codegen/Pipeline.h"

#include "codegen/Passes.h"
#include "codegen/memory/Bound.h"
#include "codegen/select/Calibrate.h"
#include "codegen/select/KernelCosts.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Dialect.h"
#include "passes/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Compiler.h"

#include <chrono>

using namespace mlir;

namespace dlc {

/// Fraction of the tuning time that remains for kernels that refinement creates, if the select
/// phase used more.
static constexpr double kRefineTuningPart = 0.1;

/// Whether MLIR verifies the IR after each pass (in debug and sanitizer builds, as in dlc-opt) or
/// only once per phase.
#if defined(__OPTIMIZE__) && !LLVM_ADDRESS_SANITIZER_BUILD
static constexpr bool kVerifiesEachPass = false;
#else
static constexpr bool kVerifiesEachPass = true;
#endif

static void addSimplifyPhase(OpPassManager &passes, const CompileOptions &options,
                             const CostsFactory &costs) {
  passes.addPass(createRememberDevicesPass());
  passes.addPass(createAccuracyPass(options, /*beforeSimplify=*/true));
  passes.addPass(createHalfPrecisionPass(options, costs));
  passes.addPass(createRaiseQuantizedPass());
  passes.addPass(createIntegerSumsPass(options, costs));
  passes.addPass(createExpandQuantizedPass());
  passes.addPass(createPackIntegersPass());
  passes.addPass(createSimplifyPass());
  passes.addPass(createTablesPass());
  passes.addPass(createPrecomputePass(options));
}

static void addGradPhase(OpPassManager &passes, const CompileOptions &options,
                         const CostsFactory &costs) {
  OpPassManager training(ModuleOp::getOperationName());
  training.addPass(createMarkAttentionPass(options, /*gradients=*/true, costs));
  training.addPass(createGradPass());
  training.addPass(createSyncBatchNormPass());
  training.addPass(createSimplifyPass());
  passes.addPass(createWherePass(GradientOp::getOperationName(), std::move(training)));
  // Gradients and optimizer updates are split between ranks in the same way as the parameters
  // that they belong to.
  passes.addPass(createSplitPass(options));
  OpPassManager parts(ModuleOp::getOperationName());
  parts.addPass(createSimplifyPass());
  passes.addPass(createWherePass(OwnRowsOp::getOperationName(), std::move(parts)));
}

static void addPrecisionPhase(OpPassManager &passes, const CompileOptions &options) {
  CompileOptions bounded = options;
  bounded.maxMemory = options.memoryEstimate.value_or(options.maxMemory);
  passes.addPass(createPrecisionPass(options));
  passes.addPass(createRecomputePass(bounded, /*mayFail=*/options.memoryEstimate.has_value()));
  passes.addPass(createAccuracyPass(options));
  passes.addPass(createWeightsPass(options));
  // All-reduce buckets are formed after the precision passes, because later passes do not change
  // the element types of values that are sent between ranks.
  passes.addPass(createBucketsPass());
  passes.addPass(createHoistCollectivesPass());
}

void addPhase(OpPassManager &passes, Phase phase, const CompileOptions &given,
              std::shared_ptr<runtime::Program> *made) {
  CompileOptions options = resolveDefaults(given);
  CostsFactory costs = [options](const ModelOptions &) { return createKernelCosts(options); };
  switch (phase) {
  case Phase::Import:
    return;
  case Phase::Simplify:
    addSimplifyPhase(passes, options, costs);
    return;
  case Phase::Grad:
    addGradPhase(passes, options, costs);
    return;
  case Phase::Precision:
    addPrecisionPhase(passes, options);
    return;
  case Phase::Place:
    passes.addPass(createPlacePass(options));
    passes.addPass(createVerifyPlacementPass());
    return;
  case Phase::Layout:
    passes.addPass(createVerifyShapesPass());
    passes.addPass(createLayoutPass(options, costs));
    passes.addPass(createVerifyLayoutPass());
    passes.addPass(createVerifyPlacementPass());
    return;
  case Phase::Fuse:
    passes.addPass(createMarkAttentionPass(options, /*gradients=*/false, costs));
    passes.addPass(createDecomposePass(costs(options)));
    passes.addPass(createExcessPrecisionPass(options));
    passes.addPass(createFusePass());
    passes.addPass(createVerifyLayoutPass());
    passes.addPass(createVerifyPlacementPass());
    return;
  case Phase::Select:
    passes.addPass(createSelectPass(options));
    passes.addPass(createVerifyPlacementPass());
    return;
  case Phase::Refine:
    passes.addPass(createRefinePass(options));
    passes.addPass(createVerifyPlacementPass());
    return;
  case Phase::Lower:
    passes.addPass(createLowerPass(options));
    passes.addPass(createOptLevelPass());
    return;
  case Phase::Memory:
    passes.addPass(createPlanMemoryPass());
    passes.addPass(createVerifyMemoryPass());
    return;
  case Phase::Native:
    passes.addPass(createNativePass(options, made));
    return;
  }
}

FailureOr<std::shared_ptr<runtime::Program>> compile(ModuleOp module, const CompileOptions &given) {
  CompileOptions options = given;
  for (const Setting &setting : getModelSettings(options))
    if (std::string problem = setting.problem(); !problem.empty())
      return module.emitError(problem), failure();
  if (options.to >= Phase::Layout)
    if (std::string problem = measureProfileOnce(resolveDefaults(options)); !problem.empty())
      return module.emitError(problem), failure();
  std::shared_ptr<runtime::Program> program;
  MemoryBound bound(options.maxMemory);
  auto run = [&](Phase phase) -> LogicalResult {
    auto start = std::chrono::steady_clock::now();
    PassManager passes(module.getContext(), ModuleOp::getOperationName());
    addPhase(passes, phase, options, &program);
    passes.enableVerifier(kVerifiesEachPass);
    LogicalResult result = passes.run(module);
    if (succeeded(result) && !kVerifiesEachPass)
      result = verify(module);
    if (options.cancelled())
      return module.emitError("the compilation was cancelled");
    if (failed(result))
      return failure();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (double &budget = options.tuning.budgetSeconds; phase == Phase::Select)
      budget = std::max(kRefineTuningPart * budget, budget - seconds.count());
    if (options.afterPhase)
      options.afterPhase(phase, module, seconds.count());
    return success();
  };
  size_t next = 0;
  while (next < allPhases().size()) {
    Phase phase = allPhases()[next++];
    if (phase < options.from || phase > options.to)
      continue;
    if (phase == Phase::Precision && options.to >= Phase::Memory) {
      bound.remember(module);
      options.memoryEstimate = bound.estimateLimit();
    }
    if (failed(run(phase)))
      return failure();
    // The memory planner computes the exact memory of the program. If it exceeds the bound, all
    // phases from Precision on run again with a lower limit of estimated memory.
    if (phase == Phase::Memory) {
      FailureOr<bool> again = bound.tighten(module);
      if (failed(again))
        return failure();
      if (*again)
        next = size_t(Phase::Precision);
    }
  }
  return program;
}

} // namespace dlc

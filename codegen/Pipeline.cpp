//===- Pipeline.cpp - the order of everything -----------------------------===//
#include "codegen/Pipeline.h"

#include "codegen/cpu/Native.h"
#include "codegen/lower/Lower.h"
#include "codegen/memory/Bound.h"
#include "codegen/memory/Memory.h"
#include "codegen/native/Build.h"
#include "codegen/refine/Refine.h"
#include "codegen/select/Accuracy.h"
#include "codegen/select/AttentionForm.h"
#include "codegen/select/Candidates.h"
#include "codegen/select/LayoutCost.h"
#include "codegen/select/Select.h"
#include "ir/dlc/Dialect.h"
#include "ir/exec/Exec.h"
#include "passes/Passes.h"
#include "runtime/device/cpu/Features.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <chrono>

using namespace mlir;

namespace dlc {

constexpr std::pair<Phase, llvm::StringLiteral> kNames[] = {
    {Phase::Import, "import"},       {Phase::Simplify, "simplify"}, {Phase::Grad, "grad"},
    {Phase::Precision, "precision"}, {Phase::Place, "place"},       {Phase::Layout, "layout"},
    {Phase::Fuse, "fuse"},           {Phase::Select, "select"},     {Phase::Refine, "refine"},
    {Phase::Lower, "lower"},         {Phase::Memory, "memory"},     {Phase::Native, "native"},
};

StringRef phaseName(Phase phase) { return kNames[size_t(phase)].second; }

std::optional<Phase> phaseFromName(StringRef name) {
  for (auto &[phase, text] : kNames)
    if (text == name)
      return phase;
  return std::nullopt;
}

ArrayRef<Phase> allPhases() {
  static const std::vector<Phase> phases = [] {
    std::vector<Phase> list;
    for (auto &[phase, text] : kNames)
      list.push_back(phase);
    return list;
  }();
  return phases;
}

void prepareContext(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<DlcDialect, exec::ExecDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect, vector::VectorDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

/// Operations need static shapes from selection on: a program is made for one set of shapes.
static LogicalResult requireStaticShapes(ModuleOp module) {
  auto result = module.walk([&](Operation *op) {
    for (Value v : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(v.getType()); type && !type.hasStaticShape()) {
        op->emitError("its shape ")
            << type << " is not known; give the inputs' shapes (--shape NAME=1x3x224x224)";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<std::shared_ptr<runtime::Program>> compile(ModuleOp module, const CompileOptions &given) {
  CompileOptions options = given;
  if (options.threads <= 0)
    options.threads = runtime::hostThreads();
  if (!llvm::is_contained({"strict", "default", "fast"}, options.accuracy)) {
    module.emitError("accuracy '")
        << options.accuracy << "' is unknown; required: strict, default or fast";
    return failure();
  }
  if (options.accuracy == "fast")
    options.precision.matmul = "medium";
  cpu::Target target = cpu::hostTarget();
  std::shared_ptr<runtime::Program> program;
  auto passes = [&](std::initializer_list<std::function<std::unique_ptr<Pass>()>> makers) {
    PassManager manager(module.getContext(), ModuleOp::getOperationName());
    for (auto &make : makers)
      manager.addPass(make());
    return manager.run(module);
  };
  MemoryBound bound(options.maxMemory);
  auto run = [&](Phase phase) -> LogicalResult {
    switch (phase) {
    case Phase::Import:
      return success();
    case Phase::Grad: {
      bool asked = module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (!asked)
        return success();
      markWholeAttention(module, options, target, /*gradients=*/true);
      return passes({[&] { return createGradPass(options.device); }, createSimplifyPass});
    }
    case Phase::Simplify:
      return passes({createRememberDevicesPass, createSimplifyPass});
    case Phase::Precision:
      if (failed(passes({[&] { return createPrecisionPass(options.precision); },
                         [&] {
                           bool planned = options.to >= Phase::Memory;
                           return createRecomputePass(
                               {planned ? bound.estimate() : options.maxMemory,
                                /*mayFail=*/planned});
                         }})))
        return failure();
      return failure(
          failed(applyAccuracy(module, given)) ||
          failed(passes({[&] { return createWeightsPass(options.precision.weights); }})));
    case Phase::Place:
      return passes(
          {[&] {
             return createPlacePass({options.device, options.place, options.forbidTransfers});
           },
           createVerifyPlacementPass});
    case Phase::Layout:
      if (failed(requireStaticShapes(module)))
        return failure();
      return passes(
          {[&] { return createLayoutPass(options.threads, layoutCosts(options, target)); },
           createVerifyLayoutPass, createVerifyPlacementPass});
    case Phase::Fuse:
      markWholeAttention(module, options, target, /*gradients=*/false);
      return passes(
          {createDecomposePass, createFusePass, createVerifyLayoutPass, createVerifyPlacementPass});
    case Phase::Select:
      return failure(failed(selectKernels(module, options, target)) || failed(verify(module)) ||
                     failed(passes({createVerifyPlacementPass})));
    case Phase::Refine:
      refineKernels(module, {situationOf(options, target), options.kernels});
      return failure(failed(verify(module)) || failed(passes({createVerifyPlacementPass})));
    case Phase::Lower:
      return failure(failed(lowerToExec(module, options, target)) || failed(verify(module)));
    case Phase::Memory:
      return failure(failed(planMemory(module)) || failed(verifyMemory(module)));
    case Phase::Native: {
      auto built = buildProgram(module, options, target);
      if (failed(built))
        return failure();
      program = *built;
      return success();
    }
    }
    llvm_unreachable("phase");
  };
  auto timed = [&](Phase phase) -> LogicalResult {
    auto start = std::chrono::steady_clock::now();
    if (failed(run(phase)))
      return failure();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (options.afterPhase)
      options.afterPhase(phase, module, seconds.count());
    return success();
  };
  size_t next = 0;
  while (next < allPhases().size()) {
    Phase phase = allPhases()[next++];
    if (phase < options.from || phase > options.to)
      continue;
    if (phase == Phase::Precision && options.to >= Phase::Memory)
      bound.remember(module);
    if (failed(timed(phase)))
      return failure();
    // Only the planner knows: where it is too much, all from precision on is done again within a
    // tighter estimate.
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

//===- Passes.cpp - passes from constant precomputation to native code ----===//
#include "codegen/Passes.h"

#include "codegen/Pipeline.h"
#include "codegen/constants/Precompute.h"
#include "codegen/cpu/Schedule.h"
#include "codegen/cpu/target/Native.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Lower.h"
#include "codegen/lower/OptLevel.h"
#include "codegen/memory/Memory.h"
#include "codegen/native/Build.h"
#include "codegen/refine/Refine.h"
#include "codegen/select/Select.h"
#include "codegen/select/candidates/Candidates.h"
#include "dlc/Error.h"
#include "ir/exec/Exec.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "runtime/program/Writer.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace dlc {

namespace {

/// Base class of passes that need the target processor: they generate CPU code or prepare for it.
template <typename Derived> struct CodePass : OptionPass<Derived, CompileOptions> {
  using Base = OptionPass<Derived, CompileOptions>;
  using Base::Base;
  CodePass(const CodePass &other) : Base(other) {}
  void getDependentDialects(DialectRegistry &registry) const override {
    registerDialects(registry);
  }
  /// Vector width in bits. Tests set a fixed width, so that the expected output is the same on
  /// every machine.
  typename Base::template Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("width of vector registers in bits; 0: that of this machine"),
      llvm::cl::init(0)};
  cpu::Target target() {
    cpu::Target t = cpu::hostTarget();
    if (vectorBits)
      t.vectorBits = vectorBits;
    return t;
  }
};

struct PrecomputePass : CodePass<PrecomputePass> {
  explicit PrecomputePass(const CompileOptions &options)
      : CodePass("dlc-precompute", "evaluates operations with constant operands at compile time",
                 {kAllSettings}, options) {}
  LogicalResult run(ModuleOp module, const CompileOptions &options) {
    if (!precomputeConstants(module, resolveDefaults(options), compile))
      return success();
    OpPassManager after(ModuleOp::getOperationName());
    after.addPass(createSimplifyPass());
    return runPipeline(after, module);
  }
};

struct SelectPass : CodePass<SelectPass> {
  explicit SelectPass(const CompileOptions &options)
      : CodePass("dlc-select",
                 "chooses a kernel for each fusion and each operation outside of fusions",
                 {kAllSettings}, options) {}
  LogicalResult run(ModuleOp module, const CompileOptions &options) {
    return selectKernels(module, resolveDefaults(options), target());
  }
};

struct RefinePass : CodePass<RefinePass> {
  explicit RefinePass(const CompileOptions &options)
      : CodePass(
            "dlc-refine",
            "splits fusions without a fast kernel, and merges adjacent operations into the chosen "
            "kernels that support them",
            {kAllSettings}, options) {}
  LogicalResult run(ModuleOp module, const CompileOptions &options) {
    cpu::Target processor = target();
    CompileOptions resolved = resolveDefaults(options);
    auto select = [&](MutableArrayRef<Operation *> operations) {
      return selectKernels(module, operations, resolved, processor);
    };
    return refineKernels(module,
                         {selectionContextOf(resolved, processor), options.kernels, select});
  }
};

struct LowerPass : CodePass<LowerPass> {
  explicit LowerPass(const CompileOptions &options)
      : CodePass("dlc-lower", "lowers @main to a list of commands", {kAllSettings}, options) {}
  LogicalResult run(ModuleOp module, const CompileOptions &options) {
    return lowerToExec(module, resolveDefaults(options), target());
  }
};

struct OptLevelPass : CodePass<OptLevelPass> {
  OptLevelPass()
      : CodePass("dlc-opt-level",
                 "marks kernels that are compiled with the fewest optimizations, since they take "
                 "little of the time",
                 {}, {}) {}
  LogicalResult run(ModuleOp module, const CompileOptions &) {
    return chooseOptLevels(module), success();
  }
};

struct PlanMemoryPass : CodePass<PlanMemoryPass> {
  PlanMemoryPass()
      : CodePass("dlc-plan-memory", "assigns an offset to each buffer in the arena", {}, {}) {}
  LogicalResult run(ModuleOp module, const CompileOptions &) { return planMemory(module); }
};

struct VerifyMemoryPass : CodePass<VerifyMemoryPass> {
  VerifyMemoryPass()
      : CodePass("dlc-verify-memory",
                 "checks that no command reads bytes that another buffer has overwritten", {}, {}) {
  }
  LogicalResult run(ModuleOp module, const CompileOptions &) {
    this->markAllAnalysesPreserved();
    return verifyMemory(module);
  }
};

constexpr llvm::StringLiteral kOutputHelp = "program file to write (.dlcx)";

struct NativePass : CodePass<NativePass> {
  NativePass(const CompileOptions &options, std::shared_ptr<runtime::Program> *made,
             const std::string &file)
      : CodePass("dlc-native", "compiles planned commands and kernels into a program",
                 {kAllSettings}, options),
        made(made) {
    output = file;
  }
  NativePass(const NativePass &other) : CodePass(other), made(other.made) {}
  LogicalResult run(ModuleOp module, const CompileOptions &options) {
    markAllAnalysesPreserved();
    auto program = buildProgram(module, resolveDefaults(options), target());
    if (failed(program))
      return failure();
    if (made)
      *made = *program;
    try {
      if (!output.empty())
        runtime::writeProgram(**program, output);
    } catch (const Error &error) {
      return module.emitError(error.what());
    }
    return success();
  }
  std::shared_ptr<runtime::Program> *made;
  Option<std::string> output{*this, "output", llvm::cl::desc(kOutputHelp)};
};

struct EmitKernelsPass : CodePass<EmitKernelsPass> {
  EmitKernelsPass()
      : CodePass("dlc-emit-kernels", "emits exec.kernel as loops and vectors", {}, {}) {}
  LogicalResult run(ModuleOp module, const CompileOptions &) {
    OpBuilder b(module.getContext());
    b.setInsertionPointToEnd(module.getBody());
    for (auto kernel : llvm::make_early_inc_range(module.getOps<exec::KernelOp>())) {
      if (!isGpuKernel(kernel) && failed(emitScheduled(b, kernel, kernel.getSymName(), target())))
        return failure();
      kernel.erase();
    }
    for (auto program : llvm::make_early_inc_range(module.getOps<exec::ProgramOp>()))
      program.erase();
    return success();
  }
};

struct LowerKernelsPass : CodePass<LowerKernelsPass> {
  LowerKernelsPass()
      : CodePass("dlc-lower-kernels", "lowers emitted kernels to the llvm dialect", {}, {}) {}
  LogicalResult run(ModuleOp module, const CompileOptions &) {
    return cpu::LlvmLowering(module.getContext()).run(module);
  }
};

/// Options of a phase's pipeline in dlc-opt. They are the options of `dlc compile`.
struct PhaseOptions : mlir::detail::PassOptions {
  using Text = mlir::detail::PassOptions::ListOption<std::string>;
  using File = mlir::detail::PassOptions::Option<std::string>;
  explicit PhaseOptions(Phase phase) {
    if (phase == Phase::Native)
      output = std::make_unique<File>(*this, "output", llvm::cl::desc(kOutputHelp));
    CompileOptions some;
    for (const Setting &setting : getModelSettings(some))
      texts.push_back(std::make_unique<Text>(*this, setting.name, llvm::cl::desc(setting.help)));
  }
  /// Sets the options of a compilation from their texts. Returns an error message, or an empty
  /// string if all are valid.
  std::string apply(CompileOptions &options) const { return parseOptionTexts(texts, options); }

  std::unique_ptr<File> output;
  std::vector<std::unique_ptr<Text>> texts;
};

void registerPhase(Phase phase, std::function<void(OpPassManager &)> addPasses = nullptr) {
  registerPassPipeline(("dlc-phase-" + phaseName(phase)).str(),
                       ("phase: " + phaseSummary(phase)).str(),
                       [phase, addPasses = std::move(addPasses)](
                           OpPassManager &passes, StringRef text,
                           function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
                         PhaseOptions given(phase);
                         if (failed(given.parseFromString(text)))
                           return failure();
                         CompileOptions options{ModelOptions()};
                         if (std::string problem = given.apply(options); !problem.empty())
                           return error(problem);
                         if (given.output && !given.output->empty())
                           passes.addPass(createNativePass(options, nullptr, *given.output));
                         else if (addPasses)
                           addPasses(passes);
                         else
                           addPhase(passes, phase, options);
                         return success();
                       },
                       [phase](function_ref<void(const mlir::detail::PassOptions &)> show) {
                         show(PhaseOptions(phase));
                       });
}

} // namespace

std::unique_ptr<Pass> createPrecomputePass(const CompileOptions &options) {
  return std::make_unique<PrecomputePass>(options);
}
std::unique_ptr<Pass> createSelectPass(const CompileOptions &options) {
  return std::make_unique<SelectPass>(options);
}
std::unique_ptr<Pass> createRefinePass(const CompileOptions &options) {
  return std::make_unique<RefinePass>(options);
}
std::unique_ptr<Pass> createLowerPass(const CompileOptions &options) {
  return std::make_unique<LowerPass>(options);
}
std::unique_ptr<Pass> createOptLevelPass() { return std::make_unique<OptLevelPass>(); }
std::unique_ptr<Pass> createPlanMemoryPass() { return std::make_unique<PlanMemoryPass>(); }
std::unique_ptr<Pass> createVerifyMemoryPass() { return std::make_unique<VerifyMemoryPass>(); }
std::unique_ptr<Pass> createNativePass(const CompileOptions &options,
                                       std::shared_ptr<runtime::Program> *made,
                                       const std::string &output) {
  return std::make_unique<NativePass>(options, made, output);
}

void registerCodegenPasses(std::function<void(OpPassManager &)> addImport) {
  registerPass([] { return createPrecomputePass(); });
  registerPass([] { return createSelectPass(); });
  registerPass([] { return createRefinePass(); });
  registerPass([] { return createLowerPass(); });
  registerPass([] { return createOptLevelPass(); });
  registerPass([] { return createPlanMemoryPass(); });
  registerPass([] { return createVerifyMemoryPass(); });
  registerPass([] { return createNativePass(); });
  PassRegistration<EmitKernelsPass>();
  PassRegistration<LowerKernelsPass>();
  for (Phase phase : allPhases())
    registerPhase(phase, phase == Phase::Import ? addImport : nullptr);
}

} // namespace dlc

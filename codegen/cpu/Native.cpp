//===- Native.cpp - machine code for this host, through LLVM --------------===//
#include "codegen/cpu/Native.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>
#include <optional>

using namespace mlir;

namespace dlc::cpu {

/// Asks the processor, which under a hypervisor takes milliseconds.
static Target detectedTarget() {
  Target target;
  target.cpu = llvm::sys::getHostCPUName().str();
  bool wide = false;
  std::vector<std::string> features;
  for (auto &feature : llvm::sys::getHostCPUFeatures()) {
    features.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
    if (feature.getKey() == "avx512f")
      wide = feature.getValue();
  }
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  target.vectorBits = wide ? 512 : 256;
  return target;
}

Target hostTarget() {
  static const Target host = detectedTarget();
  return host;
}

static std::unique_ptr<llvm::TargetMachine> makeMachine(const Target &target, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // a * b + c in one rounding
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

namespace {

/// What the emitter leaves to LLVM: redundant index arithmetic, invariants in loops, loops of a
/// known few rounds. Vectors and unrolled rows are the emitter's own work, and the default pipeline
/// spent half of the compiler's time on more of them (unrolling at run time above all), for kernels
/// that were not faster.
class Optimizer {
public:
  Optimizer(llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library) {
    llvm::PassBuilder builder(&machine);
    fam.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);

    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    llvm::LoopPassManager invariants, rounds;
    invariants.addPass(llvm::LoopRotatePass());
    invariants.addPass(llvm::LICMPass(llvm::LICMOptions()));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(invariants),
                                                         /*UseMemorySSA=*/true));
    rounds.addPass(llvm::LoopDeletionPass());
    rounds.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/1));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rounds)));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass(
        llvm::SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
    passes.addPass(llvm::ADCEPass());
  }

  void run(llvm::Module &module) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        passes.run(function, fam);
    mam.clear();
    cgam.clear();
    fam.clear();
    lam.clear();
  }

private:
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::FunctionPassManager passes;
};

/// Of the passes that make machine code, the reduction of strengths took a third of the time: its
/// search grows faster than the code. The emitter has put long kernels' addresses in order; short
/// ones gain by it.
class Gate final : public llvm::OptPassGate {
public:
  static constexpr unsigned kShort = 200; ///< instructions

  explicit Gate(const llvm::Module &module) : isShort(module.getInstructionCount() <= kShort) {}
  bool isEnabled() const override { return !isShort; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return pass != "Loop Strength Reduction";
  }

private:
  bool isShort;
};

/// What is the same for all kernels of a target; a thread has its own.
struct Compiler {
  explicit Compiler(const Target &target) : target(target), machine(makeMachine(target, error)) {
    if (!machine)
      return;
    library.emplace(machine->getTargetTriple());
    library->disableAllFunctions();
    optimizer.emplace(*machine, *library);
  }

  Target target;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::optional<llvm::TargetLibraryInfoImpl> library;
  std::optional<Optimizer> optimizer;
};

Compiler &compilerFor(const Target &target) {
  static thread_local std::optional<Compiler> kept;
  if (!kept || kept->target != target)
    kept.emplace(target);
  return *kept;
}

} // namespace

FailureOr<Code> compileKernel(ModuleOp module, StringRef name, const Target &target) {
  llvm::LLVMContext context;
  auto llvmModule = translateModuleToLLVMIR(module, context, name);
  if (!llvmModule)
    return module.emitError("kernel '") << name << "': translation to LLVM IR failed";
  Compiler &compiler = compilerFor(target);
  llvm::TargetMachine *machine = compiler.machine.get();
  if (!machine)
    return module.emitError("no LLVM target for this machine: ") << compiler.error;
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    // No call to memset or libm may come from an idiom.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setDSOLocal(true);
  }
  compiler.optimizer->run(*llvmModule);
  Gate gate(*llvmModule);
  context.setOptPassGate(gate);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  emit.add(new llvm::TargetLibraryInfoWrapperPass(*compiler.library));
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("LLVM cannot write object files for this machine");
  emit.run(*llvmModule);
  std::string error;
  auto code = flatten(llvm::StringRef(object.data(), object.size()), name, error);
  if (!code)
    return module.emitError("kernel '") << name << "': " << error;
  return *code;
}

} // namespace dlc::cpu

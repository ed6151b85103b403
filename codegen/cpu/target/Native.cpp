//===- Native.cpp - machine code for this host, through LLVM --------------===//
#include "codegen/cpu/target/Native.h"

#include "codegen/cpu/target/MissingInstructions.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils.h"

#include <mutex>
#include <optional>

using namespace mlir;

namespace dlc::cpu {

/// Queries the features of the processor (CPUID), which takes milliseconds under a hypervisor.
static Target detectHostTarget() {
  Target target;
  target.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  if (runtime::getMaxInstructionSet() != runtime::InstructionSet::Amx) {
    target.cpu = "x86-64";
    features.clear();
    for (size_t i = 0; i < runtime::kFeatureCount; ++i)
      if (auto feature = runtime::Feature(i); runtime::hostFeatures().has(feature))
        features.push_back("+" + std::string(getFeatureName(feature)));
  }
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  target.vectorBits = target.has(runtime::Feature::Avx512f) ? 512
                      : target.has(runtime::Feature::Avx2)  ? 256
                                                            : 128;
  return target;
}

Target hostTarget() {
  static const Target host = detectHostTarget();
  return host;
}

static std::unique_ptr<llvm::TargetMachine> makeMachine(const Target &target, KernelOptLevel level,
                                                        std::string &error) {
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
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      level == KernelOptLevel::Minimal ? llvm::CodeGenOptLevel::None
                                       : llvm::CodeGenOptLevel::Default));
}

namespace {

/// Optimization passes on LLVM functions, for what the emitter does not do itself: they remove
/// redundant index arithmetic, hoist loop invariants, and unroll loops with a small constant trip
/// count. The emitter already vectorizes and unrolls rows. LLVM's default pipeline spent half of
/// the compile time on more of both (mainly on runtime unrolling), and its kernels were not faster.
class Optimizer {
public:
  Optimizer(llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library,
            KernelOptLevel level) {
    llvm::PassBuilder builder(&machine);
    fam.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);

    // Whether passes use MemorySSA, which LICM needs to hoist loads.
    constexpr bool memory = true;
    llvm::LoopPassManager invariants, rounds;
    invariants.addPass(llvm::LoopRotatePass());
    invariants.addPass(llvm::LICMPass(llvm::LICMOptions()));
    rounds.addPass(llvm::LoopDeletionPass());
    rounds.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/1));

    passes.addPass(llvm::EarlyCSEPass(memory));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(invariants), memory));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rounds)));
    if (level == KernelOptLevel::Minimal) {
      passes.addPass(llvm::SimplifyCFGPass());
      return;
    }
    passes.addPass(llvm::EarlyCSEPass(memory));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass(
        llvm::SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), memory));
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

/// LLVM's code generation passes, which emit an object file. Creating these passes takes as long as
/// compiling a small kernel, so that they are reused.
class ObjectWriter {
public:
  ObjectWriter(llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library,
               bool reducesStrengths)
      : passes(reducesStrengths) {
    passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
    canWrite =
        !machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  }

  /// Emits machine code for the module and returns it as an object file. The result is valid until
  /// the next call. It is empty on failure.
  StringRef write(llvm::Module &module) {
    object.clear();
    if (canWrite)
      passes.run(module);
    return StringRef(object.data(), object.size());
  }

private:
  /// Pass manager with all code generation passes, or without loop strength reduction and the pass
  /// that prepares for it.
  struct Passes : llvm::legacy::PassManager {
    explicit Passes(bool reducesStrengths) : reducesStrengths(reducesStrengths) {}
    void add(llvm::Pass *pass) override {
      auto idOf = [](llvm::Pass *made) { return std::unique_ptr<llvm::Pass>(made)->getPassID(); };
      static const llvm::AnalysisID reduction = idOf(llvm::createLoopStrengthReducePass()),
                                    before = idOf(llvm::createCanonicalizeFreezeInLoopsPass());
      if (reducesStrengths || (pass->getPassID() != reduction && pass->getPassID() != before))
        llvm::legacy::PassManager::add(pass);
      else
        delete pass;
    }
    bool reducesStrengths;
  };

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream{object};
  Passes passes;
  bool canWrite = false;
};

/// Compiler state that all kernels of one target and optimization level share. Each thread has its
/// own state.
struct Compiler {
  Compiler(const Target &target, KernelOptLevel level)
      : target(target), level(level), machine(makeMachine(target, level, error)) {
    if (!machine)
      return;
    library.emplace(machine->getTargetTriple());
    library->disableAllFunctions();
    optimizer.emplace(*machine, *library, level);
  }

  /// Returns the code generation passes for a module. For long kernels, loop strength reduction is
  /// omitted. It took a third of the code generation time, because its search grows faster than the
  /// code, and the emitter has already arranged the addresses of long kernels. Short kernels run
  /// faster with it.
  ObjectWriter &writerFor(const llvm::Module &module) {
    constexpr unsigned kShort = 100; // maximum number of instructions in a short kernel
    bool isShort = level == KernelOptLevel::Default && module.getInstructionCount() <= kShort;
    std::optional<ObjectWriter> &writer = isShort ? forShort : forLong;
    if (!writer)
      writer.emplace(*machine, *library, /*reducesStrengths=*/isShort);
    return *writer;
  }

  Target target;
  KernelOptLevel level;
  int kernels = 0; ///< number of kernels that this state has compiled
  llvm::LLVMContext context;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::optional<llvm::TargetLibraryInfoImpl> library;
  std::optional<Optimizer> optimizer;
  std::optional<ObjectWriter> forShort, forLong;
};

Compiler &getCompiler(const Target &target, KernelOptLevel level) {
  // The state is recreated after this number of kernels, because an LLVMContext retains all
  // constants that it has created.
  constexpr int most = 1000;
  // The state is allocated on the heap, because a library that is loaded by dlopen has little
  // static TLS space.
  static thread_local std::unique_ptr<Compiler> compilers[2];
  std::unique_ptr<Compiler> &kept = compilers[level == KernelOptLevel::Minimal];
  if (!kept || kept->target != target || kept->kernels >= most) {
    kept.reset();
    kept = std::make_unique<Compiler>(target, level);
  }
  ++kept->kernels;
  return *kept;
}

} // namespace

FailureOr<MachineCode> compileKernel(ModuleOp module, StringRef name, const Target &target,
                                     KernelOptLevel level, bool contracts) {
  Compiler &compiler = getCompiler(target, level);
  auto llvmModule = translateModuleToLLVMIR(module, compiler.context, name);
  if (!llvmModule)
    return module.emitError("kernel '") << name << "': translation to LLVM IR failed";
  llvm::TargetMachine *machine = compiler.machine.get();
  if (!machine)
    return module.emitError("LLVM has no target for this machine: ") << compiler.error;
  machine->Options.AllowFPOpFusion =
      contracts ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    // LLVM's loop idiom recognition must not replace loops by calls of memset or libm functions.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setDSOLocal(true);
  }
  expandMissingInstructions(*llvmModule, target);
  compiler.optimizer->run(*llvmModule);
  StringRef object = compiler.writerFor(*llvmModule).write(*llvmModule);
  if (object.empty())
    return module.emitError("LLVM cannot write object files for this machine");
  std::string error;
  auto code = linkToFlatImage(object, name, error);
  if (!code)
    return module.emitError("kernel '") << name << "': " << error;
  return *code;
}

} // namespace dlc::cpu

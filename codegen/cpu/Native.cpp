//===- Native.cpp - machine code for this host, through LLVM --------------===//
#include "codegen/cpu/Native.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;

namespace dlc::cpu {

Target hostTarget() {
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

FailureOr<Code> compileKernel(ModuleOp module, StringRef name, const Target &target) {
  llvm::LLVMContext context;
  auto llvmModule = translateModuleToLLVMIR(module, context, name);
  if (!llvmModule)
    return module.emitError("kernel '") << name << "': translation to LLVM IR failed";
  std::string error;
  auto machine = makeMachine(target, error);
  if (!machine)
    return module.emitError("no LLVM target for this machine: ") << error;
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
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PipelineTuningOptions tuning;
  // The emitter has chosen the vectors already.
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(machine.get(), tuning);
  llvm::TargetLibraryInfoImpl library(machine->getTargetTriple());
  library.disableAllFunctions();
  fam.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(*llvmModule, mam);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  emit.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("LLVM cannot write object files for this machine");
  emit.run(*llvmModule);
  auto code = flatten(llvm::StringRef(object.data(), object.size()), name, error);
  if (!code)
    return module.emitError("kernel '") << name << "': " << error;
  return *code;
}

} // namespace dlc::cpu

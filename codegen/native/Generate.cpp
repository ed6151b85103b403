//===- Generate.cpp - compiles all CPU kernels in parallel ----------------===//
#include "codegen/cache/ObjectCache.h"
#include "codegen/cpu/Schedule.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/OptLevel.h"
#include "codegen/native/Build.h"
#include "ir/exec/Exec.h"
#include "passes/ConstantRewrites.h"

#include "mlir/IR/Threading.h"

#include <atomic>
#include <mutex>

using namespace mlir;

namespace dlc {

namespace {

/// Returns the cache key of a kernel: everything that its machine code depends on. Locations and
/// names are omitted.
std::string computeCacheKey(exec::KernelOp kernel, const cpu::Target &target) {
  std::string key = compilerIdentity() + "\n" + target.cpu + " " + target.features + " " +
                    std::to_string(target.vectorBits) + " " +
                    std::to_string(target.pastCacheBytes) + "\n";
  llvm::raw_string_ostream os(key);
  os << kernel->getDiscardableAttrDictionary() << "\n";
  for (Operation &op : kernel.getBody().front())
    op.print(os, OpPrintingFlags().useLocalScope().enableDebugInfo(false).assumeVerified());
  return key;
}

FailureOr<cpu::MachineCode> generate(exec::KernelOp kernel, const cpu::LlvmLowering &lowering,
                                     const cpu::Target &target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder b(module->getBodyRegion());
  if (failed(emitScheduled(b, kernel, "kernel", target)) || failed(lowering.run(*module)))
    return failure();
  return cpu::compileKernel(*module, "kernel", target,
                            hasMinimalOptLevel(kernel) ? cpu::KernelOptLevel::Minimal
                                                       : cpu::KernelOptLevel::Default,
                            /*contracts=*/!requiresStrictAccuracy(kernel));
}

} // namespace

ModuleKernels::ModuleKernels(ModuleOp module) {
  for (auto kernel : module.getOps<exec::KernelOp>())
    (isGpuKernel(kernel) ? gpu : cpu).push_back(kernel);
}

FailureOr<std::vector<cpu::MachineCode>>
generateCode(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  SmallVector<exec::KernelOp> kernels;
  for (Operation *kernel : ModuleKernels(module).cpu)
    kernels.push_back(cast<exec::KernelOp>(kernel));
  std::vector<cpu::MachineCode> codes(kernels.size());
  ObjectCache cache(*options.cacheDir);
  const cpu::LlvmLowering lowering(module.getContext());
  std::atomic<int> done = 0;
  std::mutex progress;
  auto one = [&](size_t i) -> LogicalResult {
    if (options.cancelled())
      return failure();
    std::string key = computeCacheKey(kernels[i], target);
    if (auto found = cache.find(key)) {
      codes[i] = std::move(*found);
    } else {
      auto code = generate(kernels[i], lowering, target);
      if (failed(code))
        return failure();
      cache.store(key, *code);
      codes[i] = std::move(*code);
    }
    if (options.progress) {
      std::lock_guard lock(progress);
      options.progress("generating code", ++done, int(kernels.size()));
    }
    return success();
  };
  std::vector<size_t> indices(kernels.size());
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = i;
  if (failed(failableParallelForEach(module.getContext(), indices, one)))
    return failure();
  return codes;
}

} // namespace dlc

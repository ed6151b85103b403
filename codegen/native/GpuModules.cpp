//===- GpuModules.cpp - modules of a program's GPU kernels ----------------===//
#include "codegen/cuda/Generate.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/native/Build.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/program/Program.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace mlir;
using nlohmann::json;

namespace dlc {

static size_t addConstant(runtime::Program &program, const void *data, size_t bytes) {
  program.manifest["constants"].push_back({{"bytes", bytes}});
  program.constants.push_back(runtime::copyToOwnedSpan(data, bytes));
  return program.constants.size() - 1;
}

LogicalResult addGpuModules(ModuleOp module, const CompileOptions &options,
                            runtime::Program &program) {
  std::map<std::string, std::vector<cuda::Kernel>> byArch;
  for (Operation *op : ModuleKernels(module).gpu) {
    auto kernel = cast<exec::KernelOp>(op);
    byArch[gpuArchOf(kernel).str()].push_back(readGpuKernel(kernel));
  }
  for (auto &[arch, kernels] : byArch) {
    if (options.progress)
      options.progress("generating code for " + arch, 0, int(kernels.size()));
    std::vector<const cuda::Kernel *> pointers;
    for (const cuda::Kernel &kernel : kernels)
      pointers.push_back(&kernel);
    std::vector<unsigned> where;
    std::string error;
    auto made = cuda::compileKernels(pointers, arch, *options.cacheDir, runtime::hostThreads(),
                                     where, error);
    if (!made)
      return module.emitError(StringRef(error).trim());
    size_t first = program.manifest["modules"].size();
    for (const cuda::Module &one : *made) {
      size_t image = addConstant(program, one.image.data(), one.image.size());
      size_t source = addConstant(program, one.source.data(), one.source.size());
      program.manifest["modules"].push_back({{"arch", arch}, {"image", image}, {"source", source}});
    }
    for (auto [kernel, which] : llvm::zip(kernels, where))
      for (const cuda::Launch &launch : kernel.launches)
        program.manifest["kernels"].push_back(
            {{"name", launch.function}, {"module", first + which}, {"function", launch.function}});
    if (options.progress)
      options.progress("generating code for " + arch, int(kernels.size()), int(kernels.size()));
  }
  return success();
}

} // namespace dlc

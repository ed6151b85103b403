//===- Generate.h - compiles kernels as CUDA C++ text to machine code -----===//
#ifndef DLC_CODEGEN_CUDA_GENERATE_H
#define DLC_CODEGEN_CUDA_GENERATE_H

#include "codegen/cuda/Kernel.h"
#include "runtime/device/cuda/Nvrtc.h"

#include <functional>

namespace dlc::cuda {

/// CUDA translation unit and its compiled image.
struct Module {
  /// CUDA text of the prelude and the kernels.
  std::string source;
  std::vector<char> image;
  /// Resources that NVRTC reports for each kernel; empty if the image was cached.
  std::vector<KernelResources> resources;
};

/// Returns the source text of a module that contains the kernels in this order. Their functions
/// must have distinct names.
std::string buildModuleSource(llvm::ArrayRef<const Kernel *> kernels);

/// Compiles CUDA source for an architecture such as "sm_90a".
using Compiler = std::function<NvrtcResult(const std::string &source, const std::string &arch)>;

/// Compiles kernels in modules of about `moduleText` bytes of source, a size that NVRTC compiles
/// fast. Modules that are not in the cache folder `cacheDir` (empty: no cache) are compiled by
/// several threads. `where[k]` is the index of the module of kernel k. The default compiler is
/// NVRTC. `error` lists the kernels that failed to compile.
std::optional<std::vector<Module>>
compileKernels(llvm::ArrayRef<const Kernel *> kernels, const std::string &arch,
               const std::string &cacheDir, int threads, std::vector<unsigned> &where,
               std::string &error, Compiler compiler = nullptr, size_t moduleText = 64 << 10);

} // namespace dlc::cuda
#endif

//===- Generate.h - kernels as CUDA C++ text and as machine code -----------===//
#ifndef DLC_CODEGEN_CUDA_GENERATE_H
#define DLC_CODEGEN_CUDA_GENERATE_H

#include "codegen/cuda/Kernel.h"
#include "runtime/device/cuda/Nvrtc.h"

#include <functional>

namespace dlc::cuda {

/// What one translation unit becomes.
struct Module {
  std::string source; ///< the prelude and the kernels
  std::vector<char> image;
  std::vector<KernelResources> resources; ///< none when the image came from the cache
};

/// Kernels of one module, in order; their functions have different names.
std::string moduleSource(llvm::ArrayRef<const Kernel *> kernels);

/// Compiles a source for `arch` ("sm_90a").
using Compiler = std::function<NvrtcResult(const std::string &source, const std::string &arch)>;

/// Groups kernels into modules of about `moduleText` bytes, which NVRTC does fast, and compiles
/// those that the folder `cacheDir` (empty: none) does not hold yet, several at a time. `where[k]`
/// says in which module kernel k ends up. Without a compiler it is NVRTC. The error says which
/// kernels failed.
std::optional<std::vector<Module>>
compileKernels(llvm::ArrayRef<const Kernel *> kernels, const std::string &arch,
               const std::string &cacheDir, int threads, std::vector<unsigned> &where,
               std::string &error, Compiler compiler = nullptr, size_t moduleText = 64 << 10);

} // namespace dlc::cuda
#endif

//===- Nvrtc.h - CUDA C++ text to machine code, through NVIDIA's compiler -----===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_NVRTC_H
#define DLC_RUNTIME_DEVICE_CUDA_NVRTC_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cuda {

/// What a kernel takes of a multiprocessor, as the assembler reported it.
struct KernelResources {
  std::string name;
  int registers = 0;
  int stackBytes = 0;
  int spillStoreBytes = 0;
  int spillLoadBytes = 0;
  /// Static shared memory alone.
  int sharedBytes = 0;
};

struct NvrtcResult {
  /// Empty: `cubin` holds. Else what was wrong, the compiler's log included.
  std::string error;
  std::vector<char> cubin;
  /// Warnings, and the assembler's report.
  std::string log;
  std::vector<KernelResources> kernels;
};

/// Compiles without a GPU or a driver. `name` stands for the text in diagnostics; `arch` is as in
/// "sm_90a"; `options` are further options of NVRTC. Any number of threads may call it at once.
NvrtcResult compileCuda(const std::string &text, const std::string &name, const std::string &arch,
                        const std::vector<std::string> &options = {});

/// As in "13.0"; empty where there is no NVRTC, with the reason in `why`. Part of a cache's key.
std::string nvrtcVersion(std::string *why = nullptr);

/// The kernels named in a log of --ptxas-options=-v.
std::vector<KernelResources> parseResources(const std::string &log);

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_NVRTC_H

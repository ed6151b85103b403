//===- Nvrtc.h - compiles CUDA C++ to machine code with NVRTC ----------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_NVRTC_H
#define DLC_RUNTIME_DEVICE_CUDA_NVRTC_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cuda {

/// Resource usage of a kernel, as reported by ptxas.
struct KernelResources {
  std::string name;
  int registers = 0;
  int stackBytes = 0;
  int spillStoreBytes = 0;
  int spillLoadBytes = 0;
  /// Static shared memory; excludes dynamic shared memory.
  int sharedBytes = 0;
};

struct NvrtcResult {
  /// Empty if `cubin` is valid. Otherwise the error, including the compiler's log.
  std::string error;
  std::vector<char> cubin;
  /// Compiler warnings and the ptxas report.
  std::string log;
  std::vector<KernelResources> kernels;
};

/// Compiles CUDA C++ source; needs neither a GPU nor a driver. `name` is the file name in
/// diagnostics, `arch` is for example "sm_90a", and `options` are additional NVRTC options.
/// Thread-safe.
NvrtcResult compileCuda(const std::string &text, const std::string &name, const std::string &arch,
                        const std::vector<std::string> &options = {});

/// Returns the NVRTC version, for example "13.0". Returns an empty string and sets `why` to the
/// reason if there is no NVRTC. The version is part of the cache keys of compiled code.
std::string nvrtcVersion(std::string *why = nullptr);

/// Parses the resource usage of kernels from a log of --ptxas-options=-v.
std::vector<KernelResources> parseResources(const std::string &log);

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_NVRTC_H

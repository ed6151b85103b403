//===- Target.h - the GPU that kernels are generated for ------------------===//
#ifndef DLC_CODEGEN_CUDA_TARGET_H
#define DLC_CODEGEN_CUDA_TARGET_H

#include "codegen/machine/Gpu.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dlc::cuda {

struct GpuTarget {
  std::string arch; ///< architecture name as in NVRTC: sm_90
  GpuCostParameters figures = {};
};

/// Returns the maximum shared memory of a thread block in bytes on GPUs of this architecture.
int64_t getSharedMemoryBytes(const std::string &arch);
/// Returns whether the architecture has warpgroup matrix instructions (wgmma).
bool hasWarpgroups(const std::string &arch);
/// Returns whether tensor cores of this architecture multiply 8-bit integers, 32 along the
/// reduction dimension.
bool multipliesBytes(const std::string &arch);

/// Returns the compilation target. If an architecture is requested ("sm_90a"), the target is that
/// architecture, and no GPU is needed on this machine. Otherwise it has the properties of the
/// device with this name ("cuda:0"). On failure, `why` is the reason.
std::optional<GpuTarget> targetOf(const std::string &device, const std::string &asked,
                                  std::string &why);

} // namespace dlc::cuda
#endif

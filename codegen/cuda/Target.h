//===- Target.h - the GPU that kernels are generated for ------------------===//
#ifndef DLC_CODEGEN_CUDA_TARGET_H
#define DLC_CODEGEN_CUDA_TARGET_H

#include "codegen/machine/Gpu.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dlc::cuda {

struct GpuTarget {
  std::string arch; ///< in NVRTC's terms: sm_90
  GpuFigures figures = {};
};

/// Returns the maximum shared memory of a block in bytes on GPUs of this architecture.
int64_t sharedBytesOf(const std::string &arch);
/// Returns whether the architecture has warpgroup products (wgmma).
bool hasWarpgroups(const std::string &arch);
/// Returns whether its tensor cores multiply 8-bit integers, 32 along the depth.
bool multipliesBytes(const std::string &arch);

/// Returns the target for the device ("cuda:0"): the requested architecture ("sm_90a"), which needs
/// no GPU on this machine, or else the properties of the device of that name. On failure, `why` is
/// the reason.
std::optional<GpuTarget> targetOf(const std::string &device, const std::string &asked,
                                  std::string &why);

} // namespace dlc::cuda
#endif

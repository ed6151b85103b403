//===- Target.h - the GPU that kernels are made for ------------------------===//
#ifndef DLC_CODEGEN_CUDA_TARGET_H
#define DLC_CODEGEN_CUDA_TARGET_H

#include "codegen/machine/Gpu.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dlc::cuda {

struct GpuTarget {
  std::string arch; ///< as NVRTC takes it: sm_90
  GpuFigures figures = {};
};

/// Bytes of shared memory that a block may have on GPUs of this architecture.
int64_t sharedBytesOf(const std::string &arch);
/// Whether it has products of four warps at a time.
bool hasWarpgroups(const std::string &arch);
/// Whether its tensor cores multiply integers of 8 bits, 32 along the depth.
bool multipliesBytes(const std::string &arch);

/// What the device ("cuda:0") is: the architecture that somebody asked for ("sm_90a"), which needs
/// no GPU here; else what the device of that name on this machine says of itself.
std::optional<GpuTarget> targetOf(const std::string &device, const std::string &asked,
                                  std::string &why);

} // namespace dlc::cuda
#endif

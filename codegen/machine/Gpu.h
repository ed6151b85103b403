//===- Gpu.h - cost-model parameters of a GPU -----------------------------===//
#ifndef DLC_CODEGEN_MACHINE_GPU_H
#define DLC_CODEGEN_MACHINE_GPU_H

#include <cstdint>

namespace dlc {

/// Peak rates in gigaflops and gigabytes per second.
struct GpuFigures {
  int multiprocessors = 0;
  double f32 = 0, f64 = 0, tensor16 = 0, tensor32 = 0, tensor8 = 0; ///< at the GPU's clock rate
  double gigabytes = 0;                                             ///< reached by copies
};

/// Properties reported by a device; 0 if not reported.
struct GpuFound {
  int multiprocessors = 0;
  double gigahertz = 0, gigabytes = 0;
};

/// Returns the parameters for an architecture (90: sm_90), from its row of Gpus.def or the closest
/// older one. Properties in `found` take precedence.
GpuFigures gpuFigures(int version, const GpuFound &found);
inline GpuFigures usualGpu(int version) { return gpuFigures(version, {}); }

struct GpuShares {
#define GPU_SHARE(name, value, what) double name = value;
#include "codegen/machine/Gpus.def"
#undef GPU_SHARE
};

/// A contraction: a batch of [rows, contracted] by [contracted, columns].
struct GpuProduct {
  double batches = 1, rows = 1, columns = 1, contracted = 1;
  double gigaflops = 1; ///< rate of its kernel if there are many blocks

  double flops() const { return 2 * batches * rows * columns * contracted; }
  /// Microseconds of the arithmetic. Resources are idle if there are fewer blocks than
  /// multiprocessors, if the last wave of blocks is partial, or if a tile is partial.
  double time(const GpuFigures &gpu) const;
};

} // namespace dlc
#endif

//===- Gpu.h - cost-model parameters of a GPU -----------------------------===//
#ifndef DLC_CODEGEN_MACHINE_GPU_H
#define DLC_CODEGEN_MACHINE_GPU_H

#include <cstdint>

namespace dlc {

/// Cost-model parameters of a GPU: peak arithmetic rates in gigaflops and memory bandwidth in
/// gigabytes per second.
struct GpuCostParameters {
  int multiprocessors = 0;
  /// Peak gigaflops of all multiprocessors at the GPU's clock: f32 and f64 arithmetic, and tensor
  /// cores with 16-bit, tf32 and 8-bit operands.
  double f32 = 0, f64 = 0, tensor16 = 0, tensor32 = 0, tensor8 = 0;
  double gigabytes = 0; ///< memory bandwidth that copies reach, in gigabytes per second
};

/// Properties that the device reports. A value of 0 means that the device does not report it.
struct GpuDeviceProperties {
  int multiprocessors = 0;
  double gigahertz = 0, gigabytes = 0;
};

/// Returns the parameters of a GPU architecture (90 for sm_90) from its row of Gpus.def, or from
/// the closest older row. Properties in `found` take precedence.
GpuCostParameters getGpuParameters(int version, const GpuDeviceProperties &found);
inline GpuCostParameters usualGpu(int version) { return getGpuParameters(version, {}); }

struct GpuEfficiencies {
#define GPU_SHARE(name, value, what) double name = value;
#include "codegen/machine/Gpus.def"
#undef GPU_SHARE
};

/// Sizes of a batched matmul or convolution: a batch of [rows, contracted] by [contracted,
/// columns].
struct GpuMatmulSizes {
  double batches = 1, rows = 1, columns = 1, contracted = 1;
  double gigaflops = 1; ///< rate of the kernel in gigaflops if there are many thread blocks

  double flops() const { return 2 * batches * rows * columns * contracted; }
  /// Returns the estimated microseconds of the arithmetic. Multiprocessors are idle if there are
  /// fewer thread blocks than multiprocessors, if the last wave of blocks is partial, or if a tile
  /// is partial.
  double time(const GpuCostParameters &gpu) const;
};

} // namespace dlc
#endif

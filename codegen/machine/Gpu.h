//===- Gpu.h - what the cost model believes of a GPU -----------------------===//
#ifndef DLC_CODEGEN_MACHINE_GPU_H
#define DLC_CODEGEN_MACHINE_GPU_H

#include <cstdint>

namespace dlc {

/// Rates in gigaflops and gigabytes a second.
struct GpuFigures {
  int multiprocessors = 0;
  double f32 = 0, f64 = 0, tensor16 = 0, tensor32 = 0, tensor8 = 0; ///< as the clock allows
  double gigabytes = 0;                                             ///< that copies reach
};

/// What a device says of itself; zeros: it does not.
struct GpuFound {
  int multiprocessors = 0;
  double gigahertz = 0, gigabytes = 0;
};

/// Of an architecture (90: sm_90), by the row of Gpus.def for it or for the last one before it, and
/// by what was found.
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
  double gigaflops = 1; ///< that its kernel reaches where blocks are many

  double flops() const { return 2 * batches * rows * columns * contracted; }
  /// Microseconds of the arithmetic: blocks of the result that fill no multiprocessor, no wave of
  /// them all, or no tile, leave the rest idle.
  double time(const GpuFigures &gpu) const;
};

} // namespace dlc
#endif

//===- KernelContext.h - what generated code may call, and how it is called ---===//
#ifndef DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H
#define DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H

#include "dlc/Export.h"

#include <cstdint>

namespace dlc::runtime {

/// A generated kernel computes the chunk [begin, end) of its extent. `buffers` are the launch's
/// buffers in order; `scratch` is this thread's own, aligned to 64 (null if the launch asked for
/// none); `ctx` is the table below.
using KernelFn = void (*)(void *const *buffers, int64_t begin, int64_t end, void *scratch,
                          const void *const *ctx);

/// Positions in `ctx`. Part of the artefact's format: append only.
enum class KernelFunction : uint32_t {
  // double -> double
  Exp,
  Log,
  Log1p,
  Expm1,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  // (double, double) -> double
  Pow,
  Fmod,
  Atan2,
  // (double) -> double
  Erfc,
  Count
};

/// The table that kernels get as `ctx`.
DLC_EXPORT const void *const *kernelContext();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H

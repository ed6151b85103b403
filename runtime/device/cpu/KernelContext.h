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

/// What `ctx` holds, in its order: functions of one double (Unary) or of two (Binary), each as C
/// has it. Part of the artefact's format: append only.
// clang-format off
#define DLC_KERNEL_FUNCTIONS(X)                                                                    \
  X(Exp, exp, Unary) X(Log, log, Unary) X(Log1p, log1p, Unary) X(Expm1, expm1, Unary)              \
  X(Sin, sin, Unary) X(Cos, cos, Unary) X(Tan, tan, Unary) X(Asin, asin, Unary)                    \
  X(Acos, acos, Unary) X(Atan, atan, Unary) X(Sinh, sinh, Unary) X(Cosh, cosh, Unary)              \
  X(Tanh, tanh, Unary) X(Asinh, asinh, Unary) X(Acosh, acosh, Unary) X(Atanh, atanh, Unary)        \
  X(Erf, erf, Unary) X(Pow, pow, Binary) X(Fmod, fmod, Binary) X(Atan2, atan2, Binary)             \
  X(Erfc, erfc, Unary)
// clang-format on

/// Positions in `ctx`.
enum class KernelFunction : uint32_t {
#define DLC_KERNEL_FUNCTION(Entry, function, type) Entry,
  DLC_KERNEL_FUNCTIONS(DLC_KERNEL_FUNCTION)
#undef DLC_KERNEL_FUNCTION
};

/// The table that kernels get as `ctx`.
DLC_EXPORT const void *const *kernelContext();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H

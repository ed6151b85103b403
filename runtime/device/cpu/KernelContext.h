//===- KernelContext.h - calling convention of generated kernels -------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H
#define DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H

#include "dlc/Export.h"

#include <cstdint>

namespace dlc::runtime {

/// Entry point of a generated kernel, which computes the chunk [begin, end) of its iteration space.
/// `buffers` are the launch's buffers in order. `scratch` is per-thread memory aligned to 64 bytes
/// (null if the launch requests none). `ctx` is the function table below.
using KernelFn = void (*)(void *const *buffers, int64_t begin, int64_t end, void *scratch,
                          const void *const *ctx);

/// Functions in a kernel's function table `ctx`, in order: <cmath> functions of one double (Unary)
/// or two (Binary). The order is part of the program file format: only append.
// clang-format off
#define DLC_KERNEL_FUNCTIONS(X)                                                                    \
  X(Exp, exp, Unary) X(Log, log, Unary) X(Log1p, log1p, Unary) X(Expm1, expm1, Unary)              \
  X(Sin, sin, Unary) X(Cos, cos, Unary) X(Tan, tan, Unary) X(Asin, asin, Unary)                    \
  X(Acos, acos, Unary) X(Atan, atan, Unary) X(Sinh, sinh, Unary) X(Cosh, cosh, Unary)              \
  X(Tanh, tanh, Unary) X(Asinh, asinh, Unary) X(Acosh, acosh, Unary) X(Atanh, atanh, Unary)        \
  X(Erf, erf, Unary) X(Pow, pow, Binary) X(Fmod, fmod, Binary) X(Atan2, atan2, Binary)             \
  X(Erfc, erfc, Unary)
// clang-format on

/// Indices into the table `ctx`.
enum class KernelFunction : uint32_t {
#define DLC_KERNEL_FUNCTION(Entry, function, type) Entry,
  DLC_KERNEL_FUNCTIONS(DLC_KERNEL_FUNCTION)
#undef DLC_KERNEL_FUNCTION
};

/// Returns the function table that is passed to kernels as `ctx`.
DLC_EXPORT const void *const *kernelContext();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_KERNELCONTEXT_H

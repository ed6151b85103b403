//===- KernelContext.cpp - functions that generated code may call ------------===//
#include "runtime/device/cpu/KernelContext.h"

#include <cmath>

namespace dlc::runtime {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static const void *address(Unary function) { return reinterpret_cast<const void *>(function); }
static const void *address(Binary function) { return reinterpret_cast<const void *>(function); }

const void *const *kernelContext() {
  static const void *const table[] = {
#define DLC_KERNEL_FUNCTION(Entry, function, type) address(type(std::function)),
      DLC_KERNEL_FUNCTIONS(DLC_KERNEL_FUNCTION)
#undef DLC_KERNEL_FUNCTION
  };
  return table;
}

} // namespace dlc::runtime

//===- Avx512.cpp - kernel table for processors with AVX-512 -===//
//
// This file has its own compiler flags. CachedAttention.cpp selects a table by the processor's
// features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/cached/CachedKernels.h"

namespace dlc::cached {

const Kernels avx512Kernels = kKernels<16>;

} // namespace dlc::cached

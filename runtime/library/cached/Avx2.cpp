//===- Avx2.cpp - kernel table for processors with AVX2 -===//
//
// This file has its own compiler flags. CachedAttention.cpp selects a table by the processor's
// features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/cached/CachedKernels.h"

namespace dlc::cached {

const Kernels avx2Kernels = kKernels<8>;

} // namespace dlc::cached

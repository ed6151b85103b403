//===- Avx2.cpp - kernel table for processors with AVX2 and FMA -----------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see kernelsFor in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/DirectKernels.h"

namespace dlc::direct {

const Kernels avx2Kernels = DirectKernels<8>::kernels;

} // namespace dlc::direct

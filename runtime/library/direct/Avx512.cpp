//===- Avx512.cpp - kernel table for processors with AVX-512 --------------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see kernelsFor in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/DirectKernels.h"

namespace dlc::direct {

const Kernels avx512Kernels = DirectKernels<16>::kernels;

} // namespace dlc::direct

//===- Avx512.cpp - kernel table for processors with AVX-512 --------------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see unitsOf in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/AttentionKernels.h"

namespace dlc::attention {

const Kernels &avx512Kernels() { return AttentionKernels<16, 14>::table; }

} // namespace dlc::attention

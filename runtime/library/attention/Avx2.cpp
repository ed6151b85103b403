//===- Avx2.cpp - kernel table for processors with AVX2 and FMA -----------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see unitsOf in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/AttentionKernels.h"

namespace dlc::attention {

const Kernels &avx2Kernels() { return AttentionKernels<8, 6>::table; }

} // namespace dlc::attention

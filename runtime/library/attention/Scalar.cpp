//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectMatmulBackend in
// Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/AttentionKernels.h"

namespace dlc::attention {

const Kernels &scalarKernels() { return AttentionKernels<8, 6>::table; }

} // namespace dlc::attention

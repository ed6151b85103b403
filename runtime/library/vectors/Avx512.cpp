//===- Avx512.cpp - the kernels for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Describe.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/vectors/Simd.h"

namespace dlc::vectors {

const Kernels &avx512Kernels() { return Simd<16, 14>::table; }

} // namespace dlc::vectors

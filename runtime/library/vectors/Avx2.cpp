//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Describe.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/vectors/Simd.h"

namespace dlc::vectors {

const Kernels &avx2Kernels() { return Simd<8, 6>::table; }

} // namespace dlc::vectors

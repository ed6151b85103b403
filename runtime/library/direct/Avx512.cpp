//===- Avx512.cpp - the kernels for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/Simd.h"

namespace dlc::direct {

const Kernels avx512Kernels = Simd<16>::kernels;

} // namespace dlc::direct

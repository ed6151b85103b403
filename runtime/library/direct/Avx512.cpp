//===- Avx512.cpp - the kernels for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/DirectKernels.h"

namespace dlc::direct {

const Kernels avx512Kernels = DirectKernels<16>::kernels;

} // namespace dlc::direct

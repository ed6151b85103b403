//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/DirectKernels.h"

namespace dlc::direct {

const Kernels avx2Kernels = DirectKernels<8>::kernels;

} // namespace dlc::direct

//===- Avx512.cpp - the kernels for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/WinogradKernels.h"

namespace dlc::winograd {

const Kernels *avx512Kernels(int outputs, int window) { return kernelsFor<16>(outputs, window); }

} // namespace dlc::winograd

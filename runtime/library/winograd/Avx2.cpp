//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/WinogradKernels.h"

namespace dlc::winograd {

const Kernels *avx2Kernels(int outputs, int window) { return kernelsFor<8>(outputs, window); }

} // namespace dlc::winograd

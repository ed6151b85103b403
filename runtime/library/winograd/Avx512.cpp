//===- Avx512.cpp - kernel table for processors with AVX-512 --------------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/WinogradKernels.h"

namespace dlc::winograd {

const Kernels *avx512Kernels(int outputs, int window) { return selectKernels<16>(outputs, window); }

} // namespace dlc::winograd

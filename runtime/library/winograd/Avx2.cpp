//===- Avx2.cpp - kernel table for processors with AVX2 and FMA -----------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/WinogradKernels.h"

namespace dlc::winograd {

const Kernels *avx2Kernels(int outputs, int window) { return selectKernels<8>(outputs, window); }

} // namespace dlc::winograd

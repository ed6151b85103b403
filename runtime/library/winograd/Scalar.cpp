//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectKernels in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/WinogradKernels.h"

namespace dlc::winograd {

const Kernels *scalarKernels(int outputs, int window) { return selectKernels<8>(outputs, window); }

} // namespace dlc::winograd

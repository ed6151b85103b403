//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectKernels in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/direct/DirectKernels.h"

namespace dlc::direct {

const Kernels scalarKernels = DirectKernels<8>::kernels;

} // namespace dlc::direct

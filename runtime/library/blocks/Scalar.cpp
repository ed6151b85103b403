//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectKernels in Call.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/blocks/BlockKernels.h"

namespace dlc::blocks {

const Kernels scalarKernels = BlockKernels<8>::kernels;

} // namespace dlc::blocks

//===- Avx2.cpp - kernel table for processors with AVX2 and FMA -----------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see isHere in Pack.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/blocks/BlockKernels.h"

namespace dlc::blocks {

const Kernels avx2Kernels = BlockKernels<8>::kernels;

} // namespace dlc::blocks

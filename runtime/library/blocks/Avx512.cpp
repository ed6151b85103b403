//===- Avx512.cpp - kernel table for processors with AVX-512 and VNNI -----===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see isHere in Pack.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/blocks/BlockKernels.h"

namespace dlc::blocks {

const Kernels avx512Kernels = BlockKernels<16>::kernels;

} // namespace dlc::blocks

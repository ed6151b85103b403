//===- Avx512.cpp - the kernels for processors with AVX-512 and its dot products ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/blocks/BlockKernels.h"

namespace dlc::blocks {

const Kernels avx512Kernels = BlockKernels<16>::kernels;

} // namespace dlc::blocks

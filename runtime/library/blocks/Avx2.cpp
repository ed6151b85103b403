//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/blocks/BlockKernels.h"

namespace dlc::blocks {

const Kernels avx2Kernels = BlockKernels<8>::kernels;

} // namespace dlc::blocks

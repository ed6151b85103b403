//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/AttentionKernels.h"

namespace dlc::attention {

const Kernels &avx2Kernels() { return AttentionKernels<8, 6>::table; }

} // namespace dlc::attention

//===- Avx512.cpp - the kernels for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/AttentionKernels.h"

namespace dlc::attention {

const Kernels &avx512Kernels() { return AttentionKernels<16, 14>::table; }

} // namespace dlc::attention

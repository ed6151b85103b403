//===- Avx2.cpp - kernel table for processors with AVX2 -===//
//
// This file has its own compiler flags. Product.cpp selects a table by the processor's features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/quantized/QuantizedKernels.h"

namespace dlc::quantized {

const Kernels avx2Kernels = kKernels<8>;

} // namespace dlc::quantized

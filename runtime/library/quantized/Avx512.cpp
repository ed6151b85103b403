//===- Avx512.cpp - kernel table for processors with AVX-512 and VNNI -===//
//
// This file has its own compiler flags. Product.cpp selects a table by the processor's features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/quantized/QuantizedKernels.h"

namespace dlc::quantized {

const Kernels avx512Kernels = kKernels<16>;

} // namespace dlc::quantized

//===- Scalar.cpp - kernel table for any processor -===//
//
// This file has its own compiler flags. Product.cpp selects a table by the processor's features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/quantized/QuantizedKernels.h"

namespace dlc::quantized {

const Kernels scalarKernels = kKernels<8>;

} // namespace dlc::quantized

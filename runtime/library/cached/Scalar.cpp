//===- Scalar.cpp - kernel table for any processor -===//
//
// This file has its own compiler flags. CachedAttention.cpp selects a table by the processor's
// features.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/cached/CachedKernels.h"

namespace dlc::cached {

const Kernels scalarKernels = kKernels<8>;

} // namespace dlc::cached

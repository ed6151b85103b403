//===- Avx512.cpp - vector kernels for processors with AVX-512 -------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see hostLanes()).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/CumulativeVectors.h"
#include "runtime/library/builtin/LaneGradVectors.h"
#include "runtime/library/builtin/LanePoolVectors.h"

namespace dlc::runtime::builtin {

const CumulativeKernels cumulativeAvx512 = CumulativeVectors<16, 16>::kernels;
const LaneGradKernels laneGradAvx512 = LaneGradVectors<16>::kernels;
const LanePoolKernels lanePoolAvx512 = LanePoolVectors<16>::kernels;

} // namespace dlc::runtime::builtin

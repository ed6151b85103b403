//===- Avx2.cpp - vector kernels for processors with AVX2 and FMA ----===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see hostLanes()).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/CumulativeVectors.h"
#include "runtime/library/builtin/LaneGradVectors.h"
#include "runtime/library/builtin/LanePoolVectors.h"

namespace dlc::runtime::builtin {

const CumulativeKernels cumulativeAvx2 = CumulativeVectors<8, 8>::kernels;
const LaneGradKernels laneGradAvx2 = LaneGradVectors<8>::kernels;
const LanePoolKernels lanePoolAvx2 = LanePoolVectors<8>::kernels;

} // namespace dlc::runtime::builtin

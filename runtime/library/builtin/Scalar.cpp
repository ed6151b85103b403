//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectKernels in Features.h).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/CumulativeVectors.h"
#include "runtime/library/builtin/LaneGradVectors.h"
#include "runtime/library/builtin/LanePoolVectors.h"

namespace dlc::runtime::builtin {

const CumulativeKernels cumulativeScalar = CumulativeVectors<8, 8>::kernels;
const LaneGradKernels laneGradScalar = LaneGradVectors<8>::kernels;
const LanePoolKernels lanePoolScalar = LanePoolVectors<8>::kernels;

} // namespace dlc::runtime::builtin

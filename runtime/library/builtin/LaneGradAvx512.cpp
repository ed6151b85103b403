//===- LaneGradAvx512.cpp - depthwise weight gradient for AVX-512 ---------===//
//
// This file has its own compiler flags. Its kernel is called only if the processor has these
// features (see LaneGrad.cpp).
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 16;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/LaneGradVectors.h"

namespace dlc::runtime::builtin {

const LaneGradKernels laneGradAvx512 = LaneGradVectors::kernels;

} // namespace dlc::runtime::builtin

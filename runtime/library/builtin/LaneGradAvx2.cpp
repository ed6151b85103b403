//===- LaneGradAvx2.cpp - depthwise weight gradient for AVX2 and FMA ------===//
//
// This file has its own compiler flags. Its kernel is called only if the processor has these
// features (see LaneGrad.cpp).
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 8;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/LaneGradVectors.h"

namespace dlc::runtime::builtin {

const LaneGradKernels laneGradAvx2 = LaneGradVectors::kernels;

} // namespace dlc::runtime::builtin

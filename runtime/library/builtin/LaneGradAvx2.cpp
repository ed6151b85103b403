//===- LaneGradAvx2.cpp - depthwise weights' gradients for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; LaneGrad.cpp asks the processor before it comes here.
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

//===- LaneGradAvx512.cpp - depthwise weights' gradients for processors with AVX-512 ---===//
//
// Compiled with flags of its own; LaneGrad.cpp asks the processor before it comes here.
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

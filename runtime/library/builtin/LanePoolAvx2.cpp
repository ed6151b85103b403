//===- LanePoolAvx2.cpp - pooling kernels for processors with AVX2 and FMA -===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see LanePool.cpp).
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 8;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/LanePoolVectors.h"

namespace dlc::runtime::builtin {

const LanePoolKernels lanePoolAvx2 = LanePoolVectors::kernels;

} // namespace dlc::runtime::builtin

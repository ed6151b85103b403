//===- LanePoolAvx512.cpp - pooling for processors with AVX-512 ---===//
//
// Compiled with flags of its own; LanePool.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 16;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/LanePoolVectors.h"

namespace dlc::runtime::builtin {

const LanePoolKernels lanePoolAvx512 = LanePoolVectors::kernels;

} // namespace dlc::runtime::builtin

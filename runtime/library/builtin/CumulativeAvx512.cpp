//===- CumulativeAvx512.cpp - running sums for processors with AVX-512 ---===//
//
// Compiled with flags of its own; Cumulative.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 16, kRegisters = 16;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/CumulativeVectors.h"

namespace dlc::runtime::builtin {

const CumulativeKernels cumulativeAvx512 = CumulativeVectors::kernels;

} // namespace dlc::runtime::builtin

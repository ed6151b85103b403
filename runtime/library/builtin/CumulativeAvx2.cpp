//===- CumulativeAvx2.cpp - running sums for processors with AVX2 and FMA ---===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see vectorKernels in Cumulative.cpp).
//
//===---------------------------------------------------------------------------===//
namespace dlc::runtime::builtin {
namespace {
constexpr int V = 8, kRegisters = 8;
}
} // namespace dlc::runtime::builtin

#include "runtime/library/builtin/CumulativeVectors.h"

namespace dlc::runtime::builtin {

const CumulativeKernels cumulativeAvx2 = CumulativeVectors::kernels;

} // namespace dlc::runtime::builtin

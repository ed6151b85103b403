//===- CumulativeAvx2.cpp - running sums for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Cumulative.cpp asks the processor before it comes here.
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

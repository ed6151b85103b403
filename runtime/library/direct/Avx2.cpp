//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Call.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include <stdint.h>

namespace dlc::winograd {
namespace {
constexpr int kMaxRows = 6, kMaxRowsOne = 12;
}
} // namespace dlc::winograd

#include "runtime/library/direct/Simd.h"

namespace dlc::direct {

const Kernels avx2Kernels = Simd<8>::kernels;

} // namespace dlc::direct

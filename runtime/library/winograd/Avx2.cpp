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

#include "runtime/library/winograd/Simd.h"

namespace dlc::winograd {

const Kernels *avx2Kernels(int outputs, int window) { return kernelsFor<8>(outputs, window); }

} // namespace dlc::winograd

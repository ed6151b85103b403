//===- Avx2.cpp - the kernels for processors with AVX2 and FMA ---===//
//
// Compiled with flags of its own; Describe.cpp asks the processor before it comes here.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/vectors/Strassen.h"

namespace dlc::vectors {

const Kernels &avx2Kernels() {
  static constexpr int kLanes = 8, kRows = 6;
  static const Kernels kernels = {kLanes,
                                  kRows,
                                  ProductKernels<kLanes, kRows>::pack<float>,
                                  ProductKernels<kLanes, kRows>::pack<uint16_t>,
                                  simd::narrow<kLanes>,
                                  ProductKernels<kLanes, kRows>::sums,
                                  ProductKernels<kLanes, kRows>::multiply,
                                  &Seven<kLanes, kRows>::table};
  return kernels;
}

} // namespace dlc::vectors

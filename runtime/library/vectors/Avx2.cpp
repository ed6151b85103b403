//===- Avx2.cpp - kernel table for processors with AVX2 and FMA -----------===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has these
// features (see isHere in Describe.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/vectors/Strassen.h"

namespace dlc::vectors {

const Kernels &avx2MatmulKernels() {
  static constexpr int kLanes = 8, kRows = 6;
  static const Kernels kernels = {kLanes,
                                  kRows,
                                  ProductKernels<kLanes, kRows>::pack<float>,
                                  ProductKernels<kLanes, kRows>::pack<uint16_t>,
                                  simd::narrow<kLanes>,
                                  ProductKernels<kLanes, kRows>::sums,
                                  ProductKernels<kLanes, kRows>::multiply,
                                  &StrassenKernels<kLanes, kRows>::table};
  return kernels;
}

} // namespace dlc::vectors

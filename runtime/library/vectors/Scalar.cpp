//===- Scalar.cpp - kernel table for any processor ------------------------===//
//
// These kernels are called if the processor lacks AVX2 or FMA (see selectKernels in Describe.cpp).
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/vectors/Strassen.h"

namespace dlc::vectors {

const Kernels &scalarMatmulKernels() {
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

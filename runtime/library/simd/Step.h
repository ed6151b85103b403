//===- Step.h - epilogue step of a convolution ----------------------------===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_STEP_H
#define DLC_RUNTIME_LIBRARY_SIMD_STEP_H

#include "runtime/epilogue/EpilogueOps.h"

namespace dlc::simd {

struct EpilogueStep {
  enum Kind : uint8_t { Activate, AddTensor, AddChannels, MultiplyChannels } kind = Activate;
  Activation activation = Activation::Relu;
  float alpha = 0, beta = 0;
  const float *operand = nullptr;
};

} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_STEP_H

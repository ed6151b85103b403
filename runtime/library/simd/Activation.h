//===- Activation.h - activation functions of matmul and convolution epilogues -===//
//
// The functions have oneDNN's names and definitions. The files compiled for one instruction set
// (AVX-512 or AVX2) include this header, so it contains no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_ACTIVATION_H
#define DLC_RUNTIME_LIBRARY_SIMD_ACTIVATION_H

#include <stdint.h>

namespace dlc::simd {

enum class Activation : uint8_t {
  Relu, ///< ReLU, or leaky ReLU with the slope alpha for negative values
  Clip,
  /// alpha x + beta; the activations up to this enumerator cost no more than a function call.
  Linear,
  Square,
  Abs,
  Sqrt,
  Exp,
  Logistic,
  Tanh,
  GeluErf,
  GeluTanh,
  Swish,    ///< x · logistic(alpha x)
  HardSwish ///< x · clip(alpha x + beta, 0, 1)
};

} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_ACTIVATION_H

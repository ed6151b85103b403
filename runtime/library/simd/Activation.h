//===- Activation.h - functions of one number that results go through ------------===//
//
// Named and defined as oneDNN's post-ops. Shared with code compiled for one processor alone:
// nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_ACTIVATION_H
#define DLC_RUNTIME_LIBRARY_SIMD_ACTIVATION_H

#include <stdint.h>

namespace dlc::simd {

enum class Activation : uint8_t {
  Relu, ///< with slope alpha below 0
  Clip,
  Linear, ///< the last of those that are as short as a call
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

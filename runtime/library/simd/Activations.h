//===- Activations.h - activations on vectors -----------------------------===//
//
// For inclusion by the files that are compiled for one instruction set (AVX-512 or AVX2).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H
#define DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H

#include "runtime/library/simd/Activation.h"
#include "runtime/library/simd/Functions.h"
#include "runtime/library/simd/Gelu.h"

namespace dlc::simd {
namespace {

/// Calls `each` with the activation as a function on vectors, so that the loop in `each` is
/// specialized for each activation. NaN stays NaN.
template <int V, typename Each>
DLC_INLINE void dispatchActivation(Activation which, float alpha, float beta, const Each &each) {
  switch (which) {
  case Activation::Relu:
    // A slope of 0 must not be multiplied: -inf times 0 is NaN.
    if (alpha == 0)
      return each([](Vec<V> v) { return v <= 0.0f ? Vec<V>{} : v; });
    return each([=](Vec<V> v) { return v < 0.0f ? v * alpha : v; });
  case Activation::Clip:
    return each([=](Vec<V> v) { return clampLanes<V>(alpha, v, beta); });
  case Activation::Linear:
    return each([=](Vec<V> v) { return v * alpha + beta; });
  case Activation::Square:
    return each([](Vec<V> v) { return v * v; });
  case Activation::Abs:
    return each([](Vec<V> v) { return absolute<V>(v); });
  case Activation::Sqrt:
    return each([](Vec<V> v) { return squareRoot<V>(v); });
  case Activation::Exp:
    return each([](Vec<V> v) { return exponential<V>(v); });
  case Activation::Logistic:
    return each([](Vec<V> v) { return logistic<V>(v); });
  case Activation::Tanh:
    return each([](Vec<V> v) { return computeTanh<V>(v); });
  case Activation::GeluErf:
    return each([](Vec<V> v) { return geluErf<V>(v); });
  case Activation::GeluTanh:
    return each([](Vec<V> v) { return geluTanh<V>(v); });
  case Activation::Swish:
    return each([=](Vec<V> v) { return v * logistic<V>(v * alpha); });
  case Activation::HardSwish:
    return each([=](Vec<V> v) { return v * clampLanes<V>(0, v * alpha + beta, 1); });
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H

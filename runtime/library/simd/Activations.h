//===- Activations.h - activations on vectors -----------------------------===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H
#define DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H

#include "runtime/epilogue/EpilogueOps.h"
#include "runtime/library/simd/Functions.h"
#include "runtime/library/simd/Gelu.h"

namespace dlc::simd {
namespace {

/// Functions that the formulas of EpilogueOps.def call, on vectors. NaN stays NaN.
template <int V> struct VectorMath {
  DLC_INLINE static Vec<V> abs(Vec<V> x) { return absolute<V>(x); }
  DLC_INLINE static Vec<V> sqrt(Vec<V> x) { return squareRoot<V>(x); }
  DLC_INLINE static Vec<V> exp(Vec<V> x) { return exponential<V>(x); }
  DLC_INLINE static Vec<V> logistic(Vec<V> x) { return simd::logistic<V>(x); }
  DLC_INLINE static Vec<V> tanh(Vec<V> x) { return computeTanh<V>(x); }
  DLC_INLINE static Vec<V> geluErf(Vec<V> x) { return simd::geluErf<V>(x); }
  DLC_INLINE static Vec<V> geluTanh(Vec<V> x) { return simd::geluTanh<V>(x); }
  DLC_INLINE static Vec<V> round(Vec<V> x) { return roundToEven<V>(x); }
  DLC_INLINE static Vec<V> clamp(float least, Vec<V> x, float most) {
    return clampLanes<V>(least, x, most);
  }
};

/// Calls `each` with the activation as a function on vectors, so that the loop in `each` is
/// specialized for each activation.
template <int V, typename Each>
DLC_INLINE void dispatchActivation(Activation which, float alpha, float beta, const Each &each) {
  using M = VectorMath<V>;
  // A slope of 0 must not be multiplied: -inf times 0 is NaN.
  if (which == Activation::Relu && alpha == 0)
    return each([](Vec<V> x) { return x <= 0.0f ? Vec<V>{} : x; });
  switch (which) {
#define ACTIVATION(enumerator, name, exact, preservesZero, formula, ...)                           \
  case Activation::enumerator:                                                                     \
    return each([](Vec<V> x) { return formula; });
#define PARAMETRIC_ACTIVATION(enumerator, name, alphaDefault, betaDefault, preservesZero, formula, \
                              ...)                                                                 \
  case Activation::enumerator:                                                                     \
    return each([=](Vec<V> x) { return formula; });
#include "runtime/epilogue/EpilogueOps.def"
  }
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_ACTIVATIONS_H

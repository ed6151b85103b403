//===- Functions.h - elementary functions on vectors ----------------------===//
//
// For inclusion by the files that are compiled for one architecture. The error
// of exponential, logistic and tanh is at most 4 units in the last place.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_FUNCTIONS_H
#define DLC_RUNTIME_LIBRARY_SIMD_FUNCTIONS_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

/// Clamps x to [least, most]. NaN stays NaN.
template <int V> DLC_INLINE Vec<V> clampLanes(float least, Vec<V> x, float most) {
  x = x < least ? splat<V>(least) : x;
  return x > most ? splat<V>(most) : x;
}

template <int V> DLC_INLINE Vec<V> absolute(Vec<V> x) { return Vec<V>(Ints<V>(x) & INT32_MAX); }

template <int V> DLC_INLINE Vec<V> horner(Vec<V>, Vec<V> sum) { return sum; }
template <int V, typename... More>
DLC_INLINE Vec<V> horner(Vec<V> x, Vec<V> sum, float next, More... more) {
  return horner<V>(x, sum * x + next, more...);
}

template <int V> DLC_INLINE Vec<V> exponential(Vec<V> x) {
  const Vec<V> magic = splat<V>(0x1.8p23f);
  // The exponent is clamped: beyond these bounds, the f32 result is 0 or infinite.
  Vec<V> shifted = clampLanes<V>(-200, x * 0x1.715476p+0f, 200) + magic;
  Vec<V> whole = shifted - magic;
  Vec<V> r = x - whole * 0x1.62e400p-1f;
  r = clampLanes<V>(-1, r - whole * 0x1.7f7d1cp-20f, 1);
  Vec<V> p = horner<V>(r, splat<V>(1.0f / 720), 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f);
  return scaleByPowerOfTwo<V>(p, whole, Ints<V>(shifted) - Ints<V>(magic));
}

/// Returns e^-x for x >= 0, and 0 for x above `most`. Above `most`, the caller's results would be
/// subnormal, and arithmetic with subnormal operands can be a hundred times slower.
template <int V> DLC_INLINE Vec<V> expNegative(Vec<V> x, float most) {
  Vec<V> e = exponential<V>(-clampLanes<V>(0, x, most));
  return x > most ? Vec<V>{} : e;
}

template <int V> DLC_INLINE Vec<V> logistic(Vec<V> x) {
  Vec<V> e = expNegative<V>(absolute<V>(x), 87);
  return fastDivide<V>(x > 0.0f ? splat<V>(1) : e, 1 + e);
}

template <int V> DLC_INLINE Vec<V> computeTanh(Vec<V> x) {
  const Ints<V> signs = Ints<V>{} + INT32_MIN;
  Vec<V> size = absolute<V>(x);
  Vec<V> e = exponential<V>(-2 * clampLanes<V>(0, size, 20)), far = fastDivide<V>(1 - e, 1 + e);
  // Near 0 the difference 1 - e cancels, so use the Taylor series of tanh(x) / x.
  Vec<V> s = x * x;
  Vec<V> near =
      size * horner<V>(s, splat<V>(-0.00886323552990220f), 0.0218694885361552f,
                       -0.0539682539682540f, 0.133333333333333f, -0.333333333333333f, 1.0f);
  Vec<V> result = size < 0.35f ? near : far;
  return Vec<V>(Ints<V>(result) | (Ints<V>(x) & signs));
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_FUNCTIONS_H

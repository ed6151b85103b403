//===- Functions.h - functions of sixteen numbers at once -----------------------===//
//
// For code compiled with AVX-512 alone. Errors: exponential, logistic, tanh at most 4 units in the
// last place; GELU's erf 1.5e-7 (Abramowitz and Stegun 7.1.26).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_FUNCTIONS_H
#define DLC_RUNTIME_LIBRARY_TILES_FUNCTIONS_H

#include <immintrin.h>

namespace dlc::tiles {
namespace {

inline __m512 horner(__m512 x, __m512 sum) {
  (void)x;
  return sum;
}
template <typename... More> inline __m512 horner(__m512 x, __m512 sum, float next, More... more) {
  return horner(x, _mm512_fmadd_ps(sum, x, _mm512_set1_ps(next)), more...);
}

inline __m512 exponential(__m512 x) {
  __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p+0f)),
                                  _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  // Beyond these the result is 0 or infinite whatever the fraction is.
  n = _mm512_max_ps(_mm512_set1_ps(-200), _mm512_min_ps(_mm512_set1_ps(200), n));
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.62e400p-1f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.7f7d1cp-20f), r);
  r = _mm512_max_ps(_mm512_set1_ps(-1), _mm512_min_ps(_mm512_set1_ps(1), r));
  __m512 p =
      horner(r, _mm512_set1_ps(1.0f / 720), 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f);
  __m512 result = _mm512_scalef_ps(p, n);
  // min and max drop NaN.
  return _mm512_mask_mov_ps(result, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}

inline __m512 logistic(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  __m512 e = exponential(_mm512_sub_ps(_mm512_setzero_ps(), x));
  return _mm512_div_ps(one, _mm512_add_ps(one, e));
}

inline __m512 tanhOf(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  __m512 size = _mm512_abs_ps(x);
  __m512 e = exponential(_mm512_add_ps(size, size));
  __m512 far = _mm512_sub_ps(one, _mm512_div_ps(_mm512_set1_ps(2), _mm512_add_ps(e, one)));
  // Near 0 the difference would cancel: the series of tanh(x) / x.
  __m512 s = _mm512_mul_ps(x, x);
  __m512 near = _mm512_mul_ps(size, horner(s, _mm512_set1_ps(-0.00886323552990220f),
                                           0.0218694885361552f, -0.0539682539682540f,
                                           0.133333333333333f, -0.333333333333333f, 1.0f));
  __mmask16 small = _mm512_cmp_ps_mask(size, _mm512_set1_ps(0.35f), _CMP_LT_OQ);
  __m512 result = _mm512_mask_mov_ps(far, small, near);
  __m512i sign = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(int(0x80000000)));
  return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(result), sign));
}

/// x Φ(x)
inline __m512 geluErf(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  __m512 z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(0.70710678f));
  __m512 t = _mm512_div_ps(one, _mm512_fmadd_ps(_mm512_set1_ps(0.3275911f), z, one));
  __m512 poly = _mm512_mul_ps(t, horner(t, _mm512_set1_ps(1.061405429f), -1.453152027f,
                                        1.421413741f, -0.284496736f, 0.254829592f));
  __m512 tail =
      _mm512_mul_ps(poly, exponential(_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(z, z))));
  __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
  // 1 + erf is 2 - tail above 0 and tail below.
  __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  __m512 sum = _mm512_mask_mov_ps(_mm512_sub_ps(_mm512_set1_ps(2), tail), negative, tail);
  return _mm512_mul_ps(half, sum);
}

inline __m512 geluTanh(__m512 x) {
  __m512 cubic = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f), _mm512_set1_ps(1));
  __m512 inner = _mm512_mul_ps(_mm512_mul_ps(x, cubic), _mm512_set1_ps(0.7978845608f));
  // (1 + tanh(u)) / 2 is the logistic of 2 u.
  return _mm512_mul_ps(x, logistic(_mm512_add_ps(inner, inner)));
}

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_FUNCTIONS_H

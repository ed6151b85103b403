//===- functions.cuh - functions of elementwise operations -----------------===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

#define DK_FUNCTION_1(name, single, both)                                                          \
  DK_INLINE float name(float x) { return single(x); }                                              \
  DK_INLINE double name(double x) { return ::both(x); }
#define DK_FUNCTION_2(name, single, both)                                                          \
  DK_INLINE float name(float x, float y) { return single(x, y); }                                  \
  DK_INLINE double name(double x, double y) { return ::both(x, y); }
DK_FUNCTION_2(pow, powf, pow)

// A function for each elementwise operation that CUDA has a function for, generated from
// ir/dlc/ElementwiseTable.inc.
#include "elementwise.inc"

DK_INLINE float rsqrt(float x) { return 1.0f / sqrtf(x); }
DK_INLINE double rsqrt(double x) { return 1.0 / ::sqrt(x); }

template <class T> DK_INLINE T sigmoid(T x) {
  T e = exp(-abs(x));
  return (x < 0 ? e : (T)1) / ((T)1 + e);
}

// x to the power of 1/2: the results for -0.0 and minus infinity are those for 0 and infinity.
template <class T> DK_INLINE T pow_half(T x) {
  const T infinity = (T)float_of(0x7f800000u);
  return x == -infinity ? infinity : abs(sqrt(x));
}

DK_INLINE double gelu(double x) {
  if (x < -40)
    return -0.0;
  return 0.5 * x * erfc(x * -0.70710678118654752440);
}

// erfc(z) is t exp(-z z + p(t)) where t = 1 / (1 + 0.4 z), here with powers of 2: the polynomial
// was fitted for z up to 10, to 1e-7.
DK_INLINE float gelu(float x) {
  if (x < -40.0f)
    return -0.0f;
  float z = fabsf(x) * 0.70710678f, t = reciprocal(fmaf(0.4f, z, 1.0f));
  float p = fmaf(-0.299845994f, t, 1.33643651f);
  p = fmaf(p, t, -2.14905763f);
  p = fmaf(p, t, 1.44761777f);
  p = fmaf(p, t, -0.644144237f);
  p = fmaf(p, t, 0.435308784f);
  p = fmaf(p, t, 0.576217175f);
  p = fmaf(p, t, 1.44522941f);
  p = fmaf(p, t, -2.14776206f);
  float tail = t * exp2f(fmaf(z * -1.44269504f, z, p));
  return 0.5f * x * (x < 0.0f ? tail : 2.0f - tail);
}

// Accurate to 15 bits, which is sufficient for 16-bit floats: erfc of |x| / sqrt(2) is a polynomial
// of 1 / (1 + |x| / 4) times a Gaussian.
DK_INLINE float gelu_16bit(float x) {
  float a = fabsf(x), t = __fdividef(1.0f, 1.0f + 0.25f * a);
  float p = t * (0.10136128f +
                 t * (0.080418854f + t * (0.18066878f + t * (-0.10419565f + t * 0.24172754f))));
  float part = a > 13.0f ? 0.0f : a * p * __expf(-0.5f * x * x);
  return x < 0.0f ? -part : x - part;
}

template <class T> DK_INLINE T gelu_tanh(T x) {
  if (x < (T)-40)
    return (T)-0.0;
  T z = (T)1.5957691216057308 * (x + (T)0.044715 * x * x * x);
  return x / ((T)1 + exp(-z));
}

} // namespace dk

//===- arithmetic.cuh - element types, vectors, integer arithmetic, indices ---===//
#pragma once

namespace dk {

#define DK_INLINE static __device__ __forceinline__

// --- 16-bit floats and bools in memory -------------------------------------
struct f16 {
  unsigned short bits;
};

struct bf16 {
  unsigned short bits;
};

struct boolean {
  unsigned char bits;
};

union word32 {
  unsigned u;
  int i;
  float f;
};
union word64 {
  unsigned long long u;
  double f;
};

DK_INLINE float float_of(unsigned bits) {
  word32 w;
  w.u = bits;
  return w.f;
}

DK_INLINE unsigned bits_of(float x) {
  word32 w;
  w.f = x;
  return w.u;
}

DK_INLINE double double_of(unsigned long long bits) {
  word64 w;
  w.u = bits;
  return w.f;
}

#ifdef DLC_EMULATED
DK_INLINE float widen(f16 h) {
  unsigned sign = (h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u)
    return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  float magnitude = float_of(rest << 13) * float_of(0x77800000u);
  return float_of(sign | bits_of(magnitude));
}

DK_INLINE f16 narrow_f16(float x) {
  unsigned bits = bits_of(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu, h;
  if (rest > 0x7f800000u)
    h = 0x7e00u;
  else if (rest >= 0x477ff000u)
    h = 0x7c00u;
  else if (rest < 0x38800000u)
    h = bits_of(float_of(rest) + 0.5f) - 0x3f000000u;
  else
    h = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  return f16{(unsigned short)(sign | h)};
}

DK_INLINE float reciprocal(float x) { return 1.0f / x; }
#else
// Accurate to one unit in the last place; subnormal numbers are treated as 0.
DK_INLINE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DK_INLINE float widen(f16 h) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits));
  return x;
}

DK_INLINE f16 narrow_f16(float x) {
  f16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
  return h;
}

#endif

#if defined(DLC_EMULATED) || __CUDA_ARCH__ < 800
DK_INLINE bf16 narrow_bf16(float x) {
  unsigned bits = bits_of(x);
  if (x != x)
    return bf16{(unsigned short)(bits >> 16 | 0x40u)};
  return bf16{(unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}
#else
DK_INLINE bf16 narrow_bf16(float x) {
  bf16 h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
  return h;
}
#endif

DK_INLINE float widen(bf16 h) { return float_of((unsigned)h.bits << 16); }

// --- elements: in memory, in registers --------------------------------------
template <class T> DK_INLINE T load(T x) { return x; }
DK_INLINE float load(f16 x) { return widen(x); }
DK_INLINE float load(bf16 x) { return widen(x); }
DK_INLINE bool load(boolean x) { return x.bits != 0; }

template <class T> struct stored {
  template <class C> DK_INLINE T of(C x) { return (T)x; }
};

template <> struct stored<f16> {
  DK_INLINE f16 of(float x) { return narrow_f16(x); }
};

template <> struct stored<bf16> {
  DK_INLINE bf16 of(float x) { return narrow_bf16(x); }
};

template <> struct stored<boolean> {
  DK_INLINE boolean of(bool x) { return boolean{x}; }
};

template <class T, class C> DK_INLINE T as(C x) { return stored<T>::of(x); }

template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T e[N]; };
template <int N, class T> DK_INLINE vec<T, N> load(const T *p) {
  return *reinterpret_cast<const vec<T, N> *>(p);
}

template <int N, class T> DK_INLINE void store(T *p, const vec<T, N> &v) {
  *reinterpret_cast<vec<T, N> *>(p) = v;
}

// --- integers: wrapping, and defined everywhere ------------------------------
template <int Bytes> struct wide { typedef unsigned type; };
template <> struct wide<8> { typedef unsigned long long type; };
template <class T> DK_INLINE T add(T a, T b) {
  typedef typename wide<sizeof(T)>::type W;
  return (T)((W)a + (W)b);
}

template <class T> DK_INLINE T sub(T a, T b) {
  typedef typename wide<sizeof(T)>::type W;
  return (T)((W)a - (W)b);
}

template <class T> DK_INLINE T mul(T a, T b) {
  typedef typename wide<sizeof(T)>::type W;
  return (T)((W)a * (W)b);
}

DK_INLINE bool add(bool a, bool b) { return a != b; }
DK_INLINE bool sub(bool a, bool b) { return a != b; }
DK_INLINE bool mul(bool a, bool b) { return a && b; }
template <class T> DK_INLINE bool is_signed() { return (T)-1 < (T)1; }
template <class T> DK_INLINE T div(T a, T b) {
  return b == 0 ? (T)0 : is_signed<T>() && b == (T)-1 ? sub((T)0, a) : (T)(a / b);
}

template <class T> DK_INLINE T rem_truncated(T a, T b) {
  return b == 0 || (is_signed<T>() && b == (T)-1) ? (T)0 : (T)(a % b);
}

DK_INLINE float rem_truncated(float a, float b) { return fmodf(a, b); }
DK_INLINE double rem_truncated(double a, double b) { return fmod(a, b); }
template <class T> DK_INLINE T rem(T a, T b) {
  T r = rem_truncated(a, b);
  return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}

template <class T> DK_INLINE T shift_left(T a, T b) {
  typedef typename wide<sizeof(T)>::type W;
  return (W)b < 8 * sizeof(T) && !(b < 0) ? (T)((W)a << b) : (T)0;
}

template <class T> DK_INLINE T shift_right(T a, T b) {
  return !(b < 0) && b < (T)(8 * sizeof(T)) ? (T)(a >> b) : a < 0 ? (T)-1 : (T)0;
}

template <class T> DK_INLINE T sign(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : (T)0; }
template <class T> DK_INLINE T abs(T a) { return a < 0 ? sub((T)0, a) : a; }
DK_INLINE float abs(float a) { return fabsf(a); }
DK_INLINE double abs(double a) { return ::fabs(a); }
template <class T> DK_INLINE T integer_pow(T a, T b) {
  if (b < 0)
    return a == 1 ? (T)1 : a == (T)-1 ? (b & 1 ? (T)-1 : (T)1) : (T)0;
  T result = 1;
  for (typename wide<sizeof(T)>::type n = b; n != 0; n >>= 1, a = mul(a, a))
    if (n & 1)
      result = mul(result, a);
  return result;
}

template <class T> DK_INLINE T highest() {
  typedef typename wide<sizeof(T)>::type W;
  return is_signed<T>() ? (T)(((W)1 << (8 * sizeof(T) - 1)) - 1) : (T) ~(W)0;
}

// Rounds toward zero and saturates; NaN becomes 0.
template <class T, class F> DK_INLINE T to_integer(F x) {
  F end = (F)(highest<T>() / 2 + 1) * (F)2, low = is_signed<T>() ? -end : (F)0;
  if (x != x)
    return 0;
  if (x >= end)
    return highest<T>();
  if (x < low)
    return is_signed<T>() ? (T)(-highest<T>() - 1) : (T)0;
  return (T)x;
}

// --- indices ------------------------------------------------------------------
template <class I> DK_INLINE I clamp(I i, I size) { return i < 0 ? 0 : i < size ? i : size - 1; }
DK_INLINE long long place(long long i, long long size) {
  return clamp<long long>(i < 0 ? i + size : i, size);
}

// Number of elements of start, start + dilation, ... that are in [0, size).
DK_INLINE long long count_taps_inside(long long start, long long window, long long dilation,
                                      long long size) {
  long long first = start < 0 ? (dilation - 1 - start) / dilation : 0;
  long long end = start < size ? (size - 1 - start) / dilation + 1 : 0;
  if (end > window)
    end = window;
  return end > first ? end - first : 0;
}

template <class T> DK_INLINE T average(T total, T count) {
  return count != (T)0 ? total / count : (T)0;
}

} // namespace dk

//===- Prelude.cpp - helpers of the generated CUDA C++ text ---------------===//
#include "codegen/cuda/Prelude.h"

#include "ir/dlc/Dialect.h"

namespace dlc::cuda {

namespace {

constexpr llvm::StringLiteral arithmetic = R"cuda(#pragma nv_diag_suppress 177
namespace dk {

#define DK_INLINE static __device__ __forceinline__

// --- 16-bit floats and bools in memory -------------------------------------
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
struct boolean { unsigned char bits; };

union word32 { unsigned u; int i; float f; };
union word64 { unsigned long long u; double f; };
DK_INLINE float float_of(unsigned bits) { word32 w; w.u = bits; return w.f; }
DK_INLINE unsigned bits_of(float x) { word32 w; w.f = x; return w.u; }
DK_INLINE double double_of(unsigned long long bits) { word64 w; w.u = bits; return w.f; }

#ifdef DLC_EMULATED
DK_INLINE float widen(f16 h) {
  unsigned sign = (h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  float magnitude = float_of(rest << 13) * float_of(0x77800000u);
  return float_of(sign | bits_of(magnitude));
}
DK_INLINE f16 narrow_f16(float x) {
  unsigned bits = bits_of(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu, h;
  if (rest > 0x7f800000u) h = 0x7e00u;
  else if (rest >= 0x477ff000u) h = 0x7c00u;
  else if (rest < 0x38800000u) h = bits_of(float_of(rest) + 0.5f) - 0x3f000000u;
  else h = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  return f16{(unsigned short)(sign | h)};
}
DK_INLINE bf16 narrow_bf16(float x) {
  unsigned bits = bits_of(x);
  if (x != x) return bf16{(unsigned short)(bits >> 16 | 0x40u)};
  return bf16{(unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
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

template <class T> struct stored { template <class C> DK_INLINE T of(C x) { return (T)x; } };
template <> struct stored<f16> { DK_INLINE f16 of(float x) { return narrow_f16(x); } };
template <> struct stored<bf16> { DK_INLINE bf16 of(float x) { return narrow_bf16(x); } };
template <> struct stored<boolean> { DK_INLINE boolean of(bool x) { return boolean{x}; } };
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
  if (b < 0) return a == 1 ? (T)1 : a == (T)-1 ? (b & 1 ? (T)-1 : (T)1) : (T)0;
  T result = 1;
  for (typename wide<sizeof(T)>::type n = b; n != 0; n >>= 1, a = mul(a, a))
    if (n & 1) result = mul(result, a);
  return result;
}
template <class T> DK_INLINE T highest() {
  typedef typename wide<sizeof(T)>::type W;
  return is_signed<T>() ? (T)(((W)1 << (8 * sizeof(T) - 1)) - 1) : (T)~(W)0;
}
// Rounds toward zero and saturates; NaN becomes 0.
template <class T, class F> DK_INLINE T to_integer(F x) {
  F end = (F)(highest<T>() / 2 + 1) * (F)2, low = is_signed<T>() ? -end : (F)0;
  if (x != x) return 0;
  if (x >= end) return highest<T>();
  if (x < low) return is_signed<T>() ? (T)(-highest<T>() - 1) : (T)0;
  return (T)x;
}

// --- indices ------------------------------------------------------------------
template <class I> DK_INLINE I clamp(I i, I size) { return i < 0 ? 0 : i < size ? i : size - 1; }
DK_INLINE long long place(long long i, long long size) {
  return clamp<long long>(i < 0 ? i + size : i, size);
}
// Number of elements of start, start + dilation, ... that are in [0, size).
DK_INLINE long long count_taps_inside(long long start, long long window, long long dilation, long long size) {
  long long first = start < 0 ? (dilation - 1 - start) / dilation : 0;
  long long end = start < size ? (size - 1 - start) / dilation + 1 : 0;
  if (end > window) end = window;
  return end > first ? end - first : 0;
}
template <class T> DK_INLINE T average(T total, T count) {
  return count != (T)0 ? total / count : (T)0;
}

// --- functions ------------------------------------------------------------------
#define DK_FUNCTION_1(name, single, both) \
  DK_INLINE float name(float x) { return single(x); } \
  DK_INLINE double name(double x) { return ::both(x); }
#define DK_FUNCTION_2(name, single, both) \
  DK_INLINE float name(float x, float y) { return single(x, y); } \
  DK_INLINE double name(double x, double y) { return ::both(x, y); }
DK_FUNCTION_2(pow, powf, pow)
)cuda";

// CUDA text that defines the function of each elementwise operation by a function of CUDA or of
// dlc.
template <typename Op> constexpr const char *source = nullptr;
#define DLC_CUDA(Op, mnemonic, cuda, operands)                                                     \
  template <>                                                                                      \
  constexpr const char *source<Op> =                                                               \
      "DK_FUNCTION_" #operands "(" #mnemonic ", " #cuda "f, " #cuda ")\n";
#include "ir/dlc/ElementwiseTable.inc"

template <>
constexpr const char *source<RsqrtOp> = R"cuda(
DK_INLINE float rsqrt(float x) { return 1.0f / sqrtf(x); }
DK_INLINE double rsqrt(double x) { return 1.0 / ::sqrt(x); }
)cuda";

template <>
constexpr const char *source<SigmoidOp> = R"cuda(
template <class T> DK_INLINE T sigmoid(T x) {
  T e = exp(-abs(x));
  return (x < 0 ? e : (T)1) / ((T)1 + e);
}
)cuda";

constexpr llvm::StringLiteral rest = R"cuda(
// x to the power of 1/2: the results for -0.0 and minus infinity are those for 0 and infinity.
template <class T> DK_INLINE T pow_half(T x) {
  const T infinity = (T)float_of(0x7f800000u);
  return x == -infinity ? infinity : abs(sqrt(x));
}
DK_INLINE double gelu(double x) {
  if (x < -40) return -0.0;
  return 0.5 * x * erfc(x * -0.70710678118654752440);
}
// erfc(z) is t exp(-z z + p(t)) where t = 1 / (1 + 0.4 z), here with powers of 2: the polynomial was fitted for z up to 10, to 1e-7.
DK_INLINE float gelu(float x) {
  if (x < -40.0f) return -0.0f;
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
// Accurate to 15 bits, which is sufficient for 16-bit floats: erfc of |x| / sqrt(2) is a polynomial of
// 1 / (1 + |x| / 4) times a Gaussian.
DK_INLINE float gelu_16bit(float x) {
  float a = fabsf(x), t = __fdividef(1.0f, 1.0f + 0.25f * a);
  float p = t * (0.10136128f + t * (0.080418854f + t * (0.18066878f + t * (-0.10419565f + t * 0.24172754f))));
  float part = a > 13.0f ? 0.0f : a * p * __expf(-0.5f * x * x);
  return x < 0.0f ? -part : x - part;
}
template <class T> DK_INLINE T gelu_tanh(T x) {
  if (x < (T)-40) return (T)-0.0;
  T z = (T)1.5957691216057308 * (x + (T)0.044715 * x * x * x);
  return x / ((T)1 + exp(-z));
}

// --- reductions -------------------------------------------------------------------
// Propagates NaN.
struct sum { template <class T> DK_INLINE T of(T a, T b) { return add(a, b); }
             DK_INLINE float of(float a, float b) { return a + b; }
             DK_INLINE double of(double a, double b) { return a + b; } };
struct product { template <class T> DK_INLINE T of(T a, T b) { return mul(a, b); }
                 DK_INLINE float of(float a, float b) { return a * b; }
                 DK_INLINE double of(double a, double b) { return a * b; } };
struct largest { template <class T> DK_INLINE T of(T a, T b) { return a > b || a != a ? a : b; } };
struct smallest { template <class T> DK_INLINE T of(T a, T b) { return a < b || a != a ? a : b; } };
// A compensated (Neumaier) sum: the rounding error is stored separately.
template <class T> struct careful {
  T total = 0, lost = 0;
  __device__ __forceinline__ void add(T x) {
    T next = total + x;
    lost += (total < 0 ? -total : total) >= (x < 0 ? -x : x) ? (total - next) + x : (x - next) + total;
    total = next;
  }
  // Ignores the compensation if it is not finite.
  __device__ __forceinline__ T value() const {
    T sum = total + lost;
    return sum == sum ? sum : total;
  }
};
// Whether `a`, which has the larger index, replaces `b`.
template <bool Largest, bool Last, class T> DK_INLINE bool replaces_best(T a, T b) {
  return Last ? a != a || (Largest ? a >= b : a <= b) : b == b && !(Largest ? a <= b : a >= b);
}

// The order of sorting: NaN is larger than every number; among equal elements the lower index is first.
template <class T> DK_INLINE bool larger(T a, T b) { return a != a ? b == b : a > b; }
template <bool Largest, class T> DK_INLINE bool ranks_before(T a, long long i, T b, long long j) {
  if (larger(a, b)) return Largest;
  if (larger(b, a)) return !Largest;
  return i < j;
}

// Whether `a` precedes `b` in sort_block. Elements whose index is the maximum integer are last.
template <bool Largest, class T, class I> DK_INLINE bool sorted_before(T a, I i, T b, I j) {
  return i != highest<I>() && (j == highest<I>() || ranks_before<Largest>(a, i, b, j));
}
// Sorts N elements and their indices in shared memory by a block of 256 threads (bitonic sort).
template <bool Largest, int N, class T, class I> DK_INLINE void sort_block(T *values, I *places) {
  for (int size = 2; size <= N; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < N / 2; i += 256) {
        const int a = 2 * i - (i & (step - 1)), b = a + step;
        const T x = values[a], y = values[b];
        const I p = places[a], q = places[b];
        if (sorted_before<Largest>(y, q, x, p) == ((a & size) == 0))
          values[a] = y, values[b] = x, places[a] = q, places[b] = p;
      }
    }
  __syncthreads();
}

DK_INLINE int carry(signed char x) { return x; }
DK_INLINE int carry(unsigned char x) { return x; }
DK_INLINE int carry(short x) { return x; }
DK_INLINE int carry(unsigned short x) { return x; }
DK_INLINE int carry(bool x) { return x; }
template <class T> DK_INLINE T carry(T x) { return x; }
// Reduction over the 32 threads of a warp, or over groups of `Width` adjacent threads; each thread gets the result.
template <class Op, int Width, class T> DK_INLINE T warp_reduce(T x) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2)
    x = Op::of(x, (T)__shfl_xor_sync(0xffffffffu, carry(x), mask));
  return x;
}
// Reduction over a block of `Threads` threads; each thread gets the result. `scratch` has one element per warp.
template <class Op, int Threads, class T> DK_INLINE T block_reduce(T x, T *scratch) {
  x = warp_reduce<Op, 32>(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  T total = scratch[0];
#pragma unroll
  for (int i = 1; i < Threads / 32; ++i) total = Op::of(total, scratch[i]);
  return total;
}

// --- random numbers ---------------------------------------------------------------
struct random_words { unsigned e[4]; };
DK_INLINE random_words philox(unsigned long long block, long long counter, unsigned long long seed) {
  unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32);
  unsigned c2 = (unsigned)counter, c3 = (unsigned)((unsigned long long)counter >> 32);
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = (unsigned)(b >> 32) ^ c1 ^ k0;
    c2 = (unsigned)(a >> 32) ^ c3 ^ k1;
    c1 = (unsigned)b;
    c3 = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  random_words w = {{c0, c1, c2, c3}};
  return w;
}
DK_INLINE unsigned select_word(const random_words &w, int i) {
  return i == 0 ? w.e[0] : i == 1 ? w.e[1] : i == 2 ? w.e[2] : w.e[3];
}
DK_INLINE double normal_f64(const random_words &w, int i) {
  double u = (double)((select_word(w, i & 2) >> 8) + 1u) * (1.0 / (1 << 24));
  double turns = (double)(select_word(w, (i & 2) + 1) >> 8) * (2.0 / (1 << 24));
  return ::sqrt(-2.0 * ::log(u)) * (i & 1 ? ::sin(3.14159265358979324 * turns) : ::cos(3.14159265358979324 * turns));
}
template <int Bits> DK_INLINE float uniform(const random_words &w, int i) {
  return (float)(select_word(w, i) >> (32 - Bits)) * (1.0f / (1 << Bits));
}
DK_INLINE float normal(const random_words &w, int i) {
  float u = (float)((select_word(w, i & 2) >> 8) + 1u) * (1.0f / (1 << 24));
  float turns = (float)(select_word(w, (i & 2) + 1) >> 8) * (2.0f / (1 << 24));
  float factor = i & 1 ? sinpif(turns) : cospif(turns);
  return sqrtf(-2.0f * logf(u)) * factor;
}

} // namespace dk
)cuda";

std::string buildPrelude() {
  std::string text = arithmetic.str();
#define DLC_FUNCTION(Op, mnemonic, value, operands)                                                \
  static_assert(source<Op> != nullptr, "no CUDA text of " #mnemonic);                              \
  text += source<Op>;
#include "ir/dlc/ElementwiseTable.inc"
  return text + rest.str();
}

} // namespace

llvm::StringRef getPreludeText() {
  static const std::string text = buildPrelude();
  return text;
}

} // namespace dlc::cuda

//===- Emulated.h - definitions that make CUDA source compile as C++ for the host -===//
//
// This file is prepended to the source of generated kernels, after Interface.h. It includes no
// header, to keep compilation fast. One fiber runs each thread. The functions that wait are
// implemented by the emulated GPU (Fibers.cpp).
//
//===--------------------------------------------------------------------------===//
#define DLC_EMULATED 1

extern "C" {
// clang-format off
#define DLC_MATH_1(X)                                                                              \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(cbrt) X(sin) X(cos) X(tan)    \
  X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc)        \
  X(ceil) X(floor) X(round) X(rint) X(nearbyint) X(trunc) X(fabs) X(lgamma) X(tgamma)
// clang-format on
#define DLC_MATH_2(X)                                                                              \
  X(pow) X(fmod) X(atan2) X(fmax) X(fmin) X(copysign) X(hypot) X(remainder) X(nextafter) X(fdim)
#define DLC_DECLARE(name)                                                                          \
  double name(double) noexcept;                                                                    \
  float name##f(float) noexcept;
DLC_MATH_1(DLC_DECLARE)
#undef DLC_DECLARE
#define DLC_DECLARE(name)                                                                          \
  double name(double, double) noexcept;                                                            \
  float name##f(float, float) noexcept;
DLC_MATH_2(DLC_DECLARE)
#undef DLC_DECLARE
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
int printf(const char *, ...);
void *memcpy(void *, const void *, __SIZE_TYPE__) noexcept;
void *memset(void *, int, __SIZE_TYPE__) noexcept;
}
typedef __SIZE_TYPE__ size_t;
#define DLC_OVERLOAD(name)                                                                         \
  static inline float name(float x) { return name##f(x); }
DLC_MATH_1(DLC_OVERLOAD)
#undef DLC_OVERLOAD
#define DLC_OVERLOAD(name)                                                                         \
  static inline float name(float x, float y) { return name##f(x, y); }
DLC_MATH_2(DLC_OVERLOAD)
#undef DLC_OVERLOAD

#define __device__
#define __host__
#define __constant__ static
#define __global__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// Shared-memory variables are in a section of their own whose bounds the linker defines. The GPU
// overwrites the section before each launch.
#ifdef __SANITIZE_ADDRESS__
#define __shared__ static
#else
#define __shared__ static __attribute__((section("dlc_shared")))
#endif

namespace dlc_emulated {
static Place place;
static const Services *services;
} // namespace dlc_emulated
#define threadIdx (dlc_emulated::place.thread)
#define blockIdx (dlc_emulated::place.block)
#define gridDim (dlc_emulated::place.blocks)
#define blockDim (dlc_emulated::place.threads)
constexpr int warpSize = 32;
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// --- vectors ---------------------------------------------------------------------
#define DLC_VECTORS(T, name, a2, a4)                                                               \
  struct name##1 {                                                                                 \
    T x;                                                                                           \
  };                                                                                               \
  struct __align__(a2) name##2 {                                                                   \
    T x, y;                                                                                        \
  };                                                                                               \
  struct name##3 {                                                                                 \
    T x, y, z;                                                                                     \
  };                                                                                               \
  struct __align__(a4) name##4 {                                                                   \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  static inline name##1 make_##name##1(T x) { return {x}; }                                        \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                        \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
DLC_VECTORS(signed char, char, 2, 4)
DLC_VECTORS(unsigned char, uchar, 2, 4)
DLC_VECTORS(short, short, 4, 8)
DLC_VECTORS(unsigned short, ushort, 4, 8)
DLC_VECTORS(int, int, 8, 16)
DLC_VECTORS(unsigned, uint, 8, 16)
DLC_VECTORS(float, float, 8, 16)
DLC_VECTORS(long long, longlong, 16, 16)
DLC_VECTORS(unsigned long long, ulonglong, 16, 16)
DLC_VECTORS(double, double, 16, 16)
#undef DLC_VECTORS

// --- functions that the C library does not have ------------------------------------
static inline double erfinv(double x) {
  double a = fabs(x), y = 0;
  if (!(a < 1))
    return a == 1 ? x * __builtin_inf() : __builtin_nan("");
  if (a < 1e-9) // the iteration below has no accurate digits for such small results
    return x * 0.88622692545275801365;
  double least = 0, most = 6;
  for (int i = 0; i < 30; ++i) {
    y = (least + most) / 2;
    (a < 0.5 ? erf(y) < a : erfc(y) > 1 - a) ? least = y : most = y;
  }
  for (int i = 0; i < 2; ++i)
    y -= (a < 0.5 ? erf(y) - a : 1 - a - erfc(y)) * 0.88622692545275801365 * exp(y * y);
  return copysign(y, x);
}
static inline float erfinvf(float x) { return (float)erfinv((double)x); }

// --- conversions and integer and float functions ------------------------------------
template <class To, class From> static inline To dlc_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  return __builtin_bit_cast(To, x);
}
static inline int __float_as_int(float x) { return dlc_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return dlc_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return dlc_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return dlc_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return dlc_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return dlc_bits<double>(x); }
// clang-format off
#define DLC_MINMAX(T)                                                                              \
  static inline T min(T a, T b) { return a < b ? a : b; }                                          \
  static inline T max(T a, T b) { return a > b ? a : b; }
DLC_MINMAX(int)
DLC_MINMAX(unsigned)
DLC_MINMAX(long)
DLC_MINMAX(unsigned long)
DLC_MINMAX(long long)
DLC_MINMAX(unsigned long long)
#undef DLC_MINMAX
// clang-format on
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
template <class T> static inline bool isnan(T x) { return x != x; }
template <class T> static inline bool isinf(T x) { return __builtin_isinf(x); }
template <class T> static inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> static inline bool signbit(T x) { return __builtin_signbit(x); }
// Exact at multiples of 1/4, as on the device.
static inline double dlc_sinpi(double x) {
  double r = x - 2 * rint(x / 2), half = r > 0.5 ? 1 - r : r < -0.5 ? -1 - r : r;
  return sin(half * 3.14159265358979323846);
}
static inline double sinpi(double x) { return dlc_sinpi(x); }
static inline double cospi(double x) { return dlc_sinpi(x - 2 * rint(x / 2) + 0.5); }
static inline float sinpif(float x) { return (float)sinpi(x); }
static inline float cospif(float x) { return (float)cospi(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float exp10f(float x) { return powf(10, x); }
static inline float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678f); }
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return powf(10, x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __frcp_rn(float x) { return 1 / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return 1 / sqrtf(x); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static inline int __float2int_rn(float x) { return (int)rintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i)
    r |= (x >> i & 1u) << (31 - i);
  return r;
}

// --- memory ----------------------------------------------------------------------
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
template <class T> static inline void __stcg(T *p, T v) { *p = v; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }

// Atomic operations need no locks, because at most one thread runs at any time.
template <class T, class F> static inline T dlc_atomic(T *p, F f) {
  T old = *p;
  *p = f(old);
  return old;
}
#define DLC_ATOMIC(name, expression)                                                               \
  template <class T> static inline T name(T *p, decltype(T()) v) {                                 \
    return dlc_atomic(p, [=](T old) -> T { return expression; });                                  \
  }
DLC_ATOMIC(atomicAdd, old + v)
DLC_ATOMIC(atomicSub, old - v)
DLC_ATOMIC(atomicMax, old > v ? old : v)
DLC_ATOMIC(atomicMin, old < v ? old : v)
DLC_ATOMIC(atomicExch, v)
DLC_ATOMIC(atomicAnd, old &v)
DLC_ATOMIC(atomicOr, old | v)
DLC_ATOMIC(atomicXor, old ^ v)
DLC_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
DLC_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef DLC_ATOMIC
template <class T> static inline T atomicCAS(T *p, decltype(T()) compare, decltype(T()) v) {
  return dlc_atomic(p, [=](T old) -> T { return old == compare ? v : old; });
}

// --- synchronization ---------------------------------------------------------------
static inline void __syncthreads() { dlc_emulated::services->barrier(0); }
static inline int __syncthreads_count(int p) { return dlc_emulated::services->barrier(p); }
static inline int __syncthreads_or(int p) { return dlc_emulated::services->barrier(p) != 0; }
static inline int __syncthreads_and(int p) { return dlc_emulated::services->barrier(!p) == 0; }
static inline void __trap() { dlc_emulated::services->trap("__trap()"); }
static inline void __nanosleep(unsigned) {}
#define assert(x) ((x) ? (void)0 : dlc_emulated::services->trap("assert(" #x ")"))

namespace dlc_emulated {
static inline unsigned lane() {
  return (place.thread.x + place.threads.x * (place.thread.y + place.threads.y * place.thread.z)) %
         32;
}
template <class T> struct Shuffle {
  T value;
  unsigned source;
  T result;
};
template <class T> static T shuffle(unsigned mask, T value, unsigned source) {
  Shuffle<T> mine = {value, source, value};
  services->collective(mask, &mine, [](void *const *all, unsigned) {
    for (int i = 0; i < 32; ++i)
      if (auto *to = static_cast<Shuffle<T> *>(all[i]))
        if (auto *from = static_cast<Shuffle<T> *>(all[to->source % 32]))
          to->result = from->value;
  });
  return mine.result;
}
static inline unsigned ballot(unsigned mask, bool predicate) {
  Shuffle<unsigned> mine = {predicate ? 1u << lane() : 0u, 0, 0};
  services->collective(mask, &mine, [](void *const *all, unsigned) {
    unsigned votes = 0;
    for (int i = 0; i < 32; ++i)
      if (all[i])
        votes |= static_cast<Shuffle<unsigned> *>(all[i])->value;
    for (int i = 0; i < 32; ++i)
      if (all[i])
        static_cast<Shuffle<unsigned> *>(all[i])->result = votes;
  });
  return mine.result;
}
} // namespace dlc_emulated
template <class T> static inline T __shfl_sync(unsigned m, T v, int source, int width = 32) {
  unsigned l = dlc_emulated::lane();
  return dlc_emulated::shuffle(m, v, (l & ~(width - 1u)) | ((unsigned)source & (width - 1u)));
}
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int mask, int width = 32) {
  unsigned l = dlc_emulated::lane(), source = l ^ (unsigned)mask;
  return dlc_emulated::shuffle(m, v, source < ((l | (width - 1u)) + 1u) ? source : l);
}
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned by, int width = 32) {
  unsigned l = dlc_emulated::lane(), at = l & (width - 1u);
  return dlc_emulated::shuffle(m, v, at >= by ? l - by : l);
}
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned by, int width = 32) {
  unsigned l = dlc_emulated::lane(), at = l & (width - 1u);
  return dlc_emulated::shuffle(m, v, at + by < (unsigned)width ? l + by : l);
}
static inline unsigned __ballot_sync(unsigned m, int p) { return dlc_emulated::ballot(m, p != 0); }
static inline int __any_sync(unsigned m, int p) { return dlc_emulated::ballot(m, p != 0) != 0; }
static inline int __all_sync(unsigned m, int p) { return dlc_emulated::ballot(m, p == 0) == 0; }
static inline void __syncwarp(unsigned m = 0xffffffffu) { dlc_emulated::ballot(m, false); }
static inline unsigned __activemask() { return 0xffffffffu; }

static inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c = (int)((unsigned)c + (unsigned)((signed char)(a >> 8 * i) * (signed char)(b >> 8 * i)));
  return c;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i)
    c += (a >> 8 * i & 0xffu) * (b >> 8 * i & 0xffu);
  return c;
}

// --- tensor cores ------------------------------------------------------------------
namespace dlc_emulated {
struct Half {
  static constexpr int perWord = 2;
  static float of(const unsigned *words, int i) {
    unsigned h = words[i / 2] >> (i % 2 * 16) & 0xffffu, rest = h & 0x7fffu;
    float magnitude = rest >= 0x7c00u ? __uint_as_float(0x7f800000u | (rest & 0x3ffu) << 13)
                                      : __uint_as_float(rest << 13) * __uint_as_float(0x77800000u);
    return h & 0x8000u ? -magnitude : magnitude;
  }
};
struct Brain {
  static constexpr int perWord = 2;
  static float of(const unsigned *words, int i) {
    return __uint_as_float(words[i / 2] >> (i % 2 * 16) << 16);
  }
};
/// The tf32 operand that a tensor core reads: a float with a mantissa of 10 bits.
struct Tensor32 {
  static constexpr int perWord = 1;
  static float of(const unsigned *words, int i) { return __uint_as_float(words[i] & 0xffffe000u); }
};
template <bool Signed> struct Byte {
  static constexpr int perWord = 4;
  static int of(const unsigned *words, int i) {
    unsigned byte = words[i / 4] >> (i % 4 * 8) & 0xffu;
    return Signed ? (int)(signed char)byte : (int)byte;
  }
};
/// Integer sums wrap around.
static inline float add(float a, float b) { return a + b; }
static inline int add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
template <class Sum> struct Product {
  Sum *d;
  const unsigned *a, *b;
};
/// mma.m16n8kK of a row-major and a column-major matrix, d += a b, in the layouts of the PTX
/// manual.
template <class TA, class TB, int K, class Sum>
static void mma16x8(Sum *d, const unsigned *a, const unsigned *b) {
  Product<Sum> mine = {d, a, b};
  services->collective(0xffffffffu, &mine, [](void *const *all, unsigned) {
    constexpr int P = TA::perWord;
    Sum A[16][K], B[K][8];
    for (int l = 0; l < 32; ++l) {
      if (!all[l])
        return services->trap("mma without all of its warp");
      auto *p = static_cast<Product<Sum> *>(all[l]);
      int group = l / 4, in = l % 4;
      for (int w = 0; w < K / 4 / P; ++w)
        for (int e = 0; e < P; ++e) {
          int k = w * 4 * P + in * P + e;
          A[group][k] = TA::of(p->a, (w * 2) * P + e);
          A[group + 8][k] = TA::of(p->a, (w * 2 + 1) * P + e);
          B[k][group] = TB::of(p->b, w * P + e);
        }
    }
    for (int l = 0; l < 32; ++l) {
      Sum *out = static_cast<Product<Sum> *>(all[l])->d;
      for (int i = 0; i < 4; ++i) {
        int row = l / 4 + i / 2 * 8, column = l % 4 * 2 + i % 2;
        Sum sum = 0;
        for (int k = 0; k < K; ++k)
          sum += A[row][k] * B[k][column];
        out[i] = add(out[i], sum);
      }
    }
  });
}
static inline void mma_m16n8k16_f16(float *d, const unsigned *a, const unsigned *b) {
  mma16x8<Half, Half, 16>(d, a, b);
}
static inline void mma_m16n8k16_bf16(float *d, const unsigned *a, const unsigned *b) {
  mma16x8<Brain, Brain, 16>(d, a, b);
}
static inline void mma_m16n8k8_tf32(float *d, const unsigned *a, const unsigned *b) {
  mma16x8<Tensor32, Tensor32, 8>(d, a, b);
}
static inline void mma_m16n8k4_tf32(float *d, const unsigned *a, const unsigned *b) {
  mma16x8<Tensor32, Tensor32, 4>(d, a, b);
}
template <bool SignedA, bool SignedB>
static inline void mma_m16n8k32_bytes(int *d, const unsigned *a, const unsigned *b) {
  mma16x8<Byte<SignedA>, Byte<SignedB>, 32>(d, a, b);
}
struct Rows {
  unsigned *to;
  const void *row;
};
/// ldmatrix of Count 8x8 matrices of 16-bit elements. Lane 8 i + r provides the address of row r of
/// matrix i.
template <int Count, bool Transposed> static void ldmatrix(unsigned *to, const void *row) {
  Rows mine = {to, row};
  services->collective(0xffffffffu, &mine, [](void *const *all, unsigned) {
    for (int l = 0; l < 32; ++l)
      if (!all[l])
        return services->trap("ldmatrix without all of its warp");
    for (int m = 0; m < Count; ++m)
      for (int l = 0; l < 32; ++l) {
        unsigned word = 0;
        for (int e = 0; e < 2; ++e) {
          int r = Transposed ? l % 4 * 2 + e : l / 4, c = Transposed ? l / 4 : l % 4 * 2 + e;
          auto *from =
              static_cast<const unsigned short *>(static_cast<Rows *>(all[m * 8 + r])->row);
          word |= (unsigned)from[c] << (16 * e);
        }
        static_cast<Rows *>(all[l])->to[m] = word;
      }
  });
}
template <int Bytes> static inline void copy_async(void *to, const void *from, int valid = Bytes) {
  services->copyAsync(to, from, Bytes, valid);
}
static inline void commit_group() { services->commitGroup(); }
static inline void wait_groups(int pending) { services->waitGroups(pending); }
} // namespace dlc_emulated

// --- the image's description of its kernels -------------------------------------------
namespace dlc_emulated {
template <class T> struct IsPointer { static constexpr bool value = false; };
template <class T> struct IsPointer<T *> { static constexpr bool value = true; };
template <auto F> struct Entry;
template <class... A, void (*F)(A...)> struct Entry<F> {
  static constexpr int bytes[sizeof...(A) + 1] = {sizeof(A)..., 0};
  static constexpr bool pointers[sizeof...(A) + 1] = {IsPointer<A>::value..., false};
  template <int... I> struct Positions {};
  template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
  template <int... I> struct Count<0, I...> { using type = Positions<I...>; };
  template <int... I> static void call(void *const *arguments, Positions<I...>) {
    F(*static_cast<A *>(arguments[I])...);
  }
  static void run(void *const *arguments) { call(arguments, typename Count<sizeof...(A)>::type()); }
  static constexpr Kernel kernel(const char *name) {
    return {name, run, (int)sizeof...(A), bytes, pointers};
  }
};
} // namespace dlc_emulated

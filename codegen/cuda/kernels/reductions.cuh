//===- reductions.cuh - reductions of threads, warps and thread blocks -----===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

// Propagates NaN.
struct sum {
  template <class T> DK_INLINE T of(T a, T b) { return add(a, b); }
  DK_INLINE float of(float a, float b) { return a + b; }
  DK_INLINE double of(double a, double b) { return a + b; }
};

struct product {
  template <class T> DK_INLINE T of(T a, T b) { return mul(a, b); }
  DK_INLINE float of(float a, float b) { return a * b; }
  DK_INLINE double of(double a, double b) { return a * b; }
};

struct largest {
  template <class T> DK_INLINE T of(T a, T b) { return a > b || a != a ? a : b; }
};

struct smallest {
  template <class T> DK_INLINE T of(T a, T b) { return a < b || a != a ? a : b; }
};

// A compensated (Neumaier) sum: the rounding error is stored separately.
template <class T> struct careful {
  T total = 0, lost = 0;
  __device__ __forceinline__ void add(T x) {
    T next = total + x;
    lost +=
        (total < 0 ? -total : total) >= (x < 0 ? -x : x) ? (total - next) + x : (x - next) + total;
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

DK_INLINE int carry(signed char x) { return x; }
DK_INLINE int carry(unsigned char x) { return x; }
DK_INLINE int carry(short x) { return x; }
DK_INLINE int carry(unsigned short x) { return x; }
DK_INLINE int carry(bool x) { return x; }
template <class T> DK_INLINE T carry(T x) { return x; }
// Reduction over the 32 threads of a warp, or over groups of `Width` adjacent threads; each thread
// gets the result.
template <class Op, int Width, class T> DK_INLINE T warp_reduce(T x) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2)
    x = Op::of(x, (T)__shfl_xor_sync(0xffffffffu, carry(x), mask));
  return x;
}

// Reduction over a block of `Threads` threads; each thread gets the result. `scratch` has one
// element per warp.
template <class Op, int Threads, class T> DK_INLINE T block_reduce(T x, T *scratch) {
  x = warp_reduce<Op, 32>(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = x;
  __syncthreads();
  T total = scratch[0];
#pragma unroll
  for (int i = 1; i < Threads / 32; ++i)
    total = Op::of(total, scratch[i]);
  return total;
}

} // namespace dk

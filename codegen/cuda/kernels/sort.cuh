//===- sort.cuh - sorting in shared memory ---------------------------------===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

// The order of sorting: NaN is larger than every number; among equal elements the lower index is
// first.
template <class T> DK_INLINE bool larger(T a, T b) { return a != a ? b == b : a > b; }
template <bool Largest, class T> DK_INLINE bool ranks_before(T a, long long i, T b, long long j) {
  if (larger(a, b))
    return Largest;
  if (larger(b, a))
    return !Largest;
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

} // namespace dk

//===- Lanes.h - vectors of f32: access to the first lanes, transpose -----===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_LANES_H
#define DLC_RUNTIME_LIBRARY_SIMD_LANES_H

#include "runtime/simd/Arch.h"

namespace dlc::simd {
namespace {

template <int... I> struct Indices {};
template <int N, int... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I> struct MakeIndices<0, I...> { using Type = Indices<I...>; };
template <int N> using Count = typename MakeIndices<N>::Type;

/// Loads the first `count` elements by a masked load; the other vector lanes are 0.
template <int V> DLC_INLINE Vec<V> loadFirst(const float *from, int64_t count) {
  return loadMasked<V>(from, makeLaneMask(count));
}

/// Stores the first `count` vector lanes by a masked store; memory after them is not written.
template <int V> DLC_INLINE void storeFirst(float *to, int64_t count, Vec<V> v) {
  storeMasked<V>(to, makeLaneMask(count), v);
}

template <int V, int step, int... I> DLC_INLINE void exchange(Vec<V> &a, Vec<V> &b, Indices<I...>) {
  Vec<V> low = __builtin_shufflevector(a, b, ((I & step) ? V + I - step : I)...);
  Vec<V> high = __builtin_shufflevector(a, b, ((I & step) ? V + I : I + step)...);
  a = low;
  b = high;
}

template <int V, int step = V / 2> DLC_INLINE void transposeSteps(Vec<V> *rows) {
  if constexpr (step > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i)
      if ((i & step) == 0)
        exchange<V, step>(rows[i], rows[i + step], Count<V>());
    transposeSteps<V, step / 2>(rows);
  }
}

/// Transposes a block of V x V elements, whose rows have strides of `fromStride` and `toStride`
/// elements.
template <int V>
void transpose(const float *from, int64_t fromStride, float *to, int64_t toStride) {
  Vec<V> rows[V];
#pragma GCC unroll 16
  for (int i = 0; i < V; ++i)
    rows[i] = load<V>(from + i * fromStride);
  transposeSteps<V>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < V; ++i)
    store<V>(to + i * toStride, rows[i]);
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_LANES_H

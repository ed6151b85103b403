//===- Lanes.h - vectors, whole and in part --------------------------------------===//
//
// For the files compiled for one processor alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_LANES_H
#define DLC_RUNTIME_LIBRARY_VECTORS_LANES_H

#include "runtime/library/winograd/Lanes.h"

namespace dlc::vectors {
namespace {

using winograd::load;
using winograd::splat;
using winograd::store;
using winograd::Vec;

template <int V> struct IntsOf { typedef int32_t Type __attribute__((vector_size(V * 4))); };
template <int V> using Ints = typename IntsOf<V>::Type;

#ifdef __AVX512F__
/// The first `count` of sixteen; none below 1, all from 16 on.
DLC_INLINE __mmask16 firstLanes(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}
#endif

DLC_INLINE __m256i firstOfEight(int64_t count) {
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), places);
}

/// The first `count` numbers, and 0.
template <int V> DLC_INLINE Vec<V> loadFirst(const float *from, int64_t count) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_maskz_loadu_ps(firstLanes(count), from));
  else
#endif
    return Vec<V>(_mm256_maskload_ps(from, firstOfEight(count)));
}

/// Writes the first `count` numbers alone.
template <int V> DLC_INLINE void storeFirst(float *to, int64_t count, Vec<V> v) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    _mm512_mask_storeu_ps(to, firstLanes(count), __m512(v));
  else
#endif
    _mm256_maskstore_ps(to, firstOfEight(count), __m256(v));
}

} // namespace
} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_LANES_H

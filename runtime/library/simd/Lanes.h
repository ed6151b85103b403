//===- Lanes.h - vectors of 8 or 16 f32: masked access, gather, transpose -===//
//
// For inclusion by the files that are compiled for one instruction set (AVX-512 or AVX2).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_LANES_H
#define DLC_RUNTIME_LIBRARY_SIMD_LANES_H

#include <immintrin.h>
#include <stdint.h>

#define DLC_INLINE [[gnu::always_inline]] inline

namespace dlc::simd {
namespace {

template <int V> struct LanesOf {
  typedef float Type __attribute__((vector_size(V * 4)));
  typedef float Loose __attribute__((vector_size(V * 4), aligned(4), may_alias));
};

template <int V> using Vec = typename LanesOf<V>::Type;

template <int V> DLC_INLINE Vec<V> load(const float *from) {
  return *reinterpret_cast<const typename LanesOf<V>::Loose *>(from);
}
template <int V> DLC_INLINE void store(float *to, Vec<V> v) {
  *reinterpret_cast<typename LanesOf<V>::Loose *>(to) = v;
}

template <int V> DLC_INLINE Vec<V> splat(float x) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_set1_ps(x));
  else
#endif
    return Vec<V>(_mm256_set1_ps(x));
}

/// Loads V elements with a stride of `stride` elements.
template <int V, int stride> DLC_INLINE Vec<V> gather(const float *from) {
#ifdef __AVX512F__
  if constexpr (V == 16) {
    const __m512i at =
        _mm512_mullo_epi32(_mm512_set1_epi32(stride),
                           _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return Vec<V>(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, at, from, 4));
  } else
#endif
  {
    const __m256i at =
        _mm256_mullo_epi32(_mm256_set1_epi32(stride), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return Vec<V>(_mm256_i32gather_ps(from, at, 4));
  }
}

template <int... I> struct Indices {};
template <int N, int... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I> struct MakeIndices<0, I...> { using Type = Indices<I...>; };
template <int N> using Count = typename MakeIndices<N>::Type;

template <int V> struct IntsOf { typedef int32_t Type __attribute__((vector_size(V * 4))); };
template <int V> using Ints = typename IntsOf<V>::Type;

#ifdef __AVX512F__
/// Returns a mask of the first `count` of 16 vector lanes: no lane if `count` is below 1, all lanes
/// if it is 16 or more.
DLC_INLINE __mmask16 makeLaneMask(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}
#endif

DLC_INLINE __m256i makeLaneMask8(int64_t count) {
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), places);
}

/// Loads the first `count` elements by a masked load; the other vector lanes are 0.
template <int V> DLC_INLINE Vec<V> loadFirst(const float *from, int64_t count) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    return Vec<V>(_mm512_maskz_loadu_ps(makeLaneMask(count), from));
  else
#endif
    return Vec<V>(_mm256_maskload_ps(from, makeLaneMask8(count)));
}

/// Stores the first `count` vector lanes by a masked store; memory after them is not written.
template <int V> DLC_INLINE void storeFirst(float *to, int64_t count, Vec<V> v) {
#ifdef __AVX512F__
  if constexpr (V == 16)
    _mm512_mask_storeu_ps(to, makeLaneMask(count), __m512(v));
  else
#endif
    _mm256_maskstore_ps(to, makeLaneMask8(count), __m256(v));
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

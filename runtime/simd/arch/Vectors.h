//===- Vectors.h - vector types of all architectures ----------------------===//
//
// Vectors of V lanes, as vector extensions of the compiler, whose operators compile to instructions
// of the architecture. All functions of kernels are in unnamed namespaces: the same function is
// compiled for several architectures, and the linker must not replace one by another.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_VECTORS_H
#define DLC_RUNTIME_SIMD_ARCH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#define DLC_INLINE [[gnu::always_inline]] inline

namespace dlc::simd {
namespace {

template <int V> struct LanesOf {
  typedef float Type __attribute__((vector_size(V * 4)));
  typedef float Loose __attribute__((vector_size(V * 4), aligned(4), may_alias));
};
template <int V> using Vec = typename LanesOf<V>::Type;

template <int V> struct IntsOf { typedef int32_t Type __attribute__((vector_size(V * 4))); };
template <int V> using Ints = typename IntsOf<V>::Type;

template <int V> DLC_INLINE Vec<V> load(const float *from) {
  return *reinterpret_cast<const typename LanesOf<V>::Loose *>(from);
}
template <int V> DLC_INLINE void store(float *to, Vec<V> v) {
  *reinterpret_cast<typename LanesOf<V>::Loose *>(to) = v;
}

/// Cache into which data is prefetched.
enum class CacheLevel { L2 = 2, L1 = 3 };
template <CacheLevel level = CacheLevel::L1> DLC_INLINE void prefetch(const void *at) {
  __builtin_prefetch(at, 0, int(level));
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_VECTORS_H

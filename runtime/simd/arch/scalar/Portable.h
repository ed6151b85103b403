//===- Portable.h - vector functions of the scalar architecture and of AVX2 ---===//
//
// Functions for which AVX2 has no better instructions than the compiler selects.
//
//===-------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_SCALAR_PORTABLE_H
#define DLC_RUNTIME_SIMD_ARCH_SCALAR_PORTABLE_H

#include "runtime/simd/arch/Vectors.h"

namespace dlc::simd {
namespace {

/// Number of f32 lanes in the vectors of kernels.
constexpr int kLanes = 8;

/// Returns a / c. |c| must be between 2^-100 and 2^100.
template <int V> DLC_INLINE Vec<V> fastDivide(Vec<V> a, Vec<V> c) { return a / c; }

/// Returns 2^n for integers n from -126 to 127.
template <int V> DLC_INLINE Vec<V> powerOfTwo(Ints<V> n) { return Vec<V>((n + 127) << 23); }

/// Returns p 2^n. The result may be subnormal or infinite, while each factor must be a normal
/// number, so p is scaled in two steps.
template <int V> DLC_INLINE Vec<V> scaleByPowerOfTwo(Vec<V> p, Vec<V>, Ints<V> n) {
  Ints<V> half = n >> 1;
  return p * powerOfTwo<V>(half) * powerOfTwo<V>(n - half);
}

/// Loads V f16 elements as f32. Not all processors with AVX2 have F16C.
template <int V> DLC_INLINE Vec<V> widenHalf(const uint8_t *from) {
  typedef uint16_t Halves __attribute__((vector_size(V * 2)));
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  const Ints<V> bits = __builtin_convertvector(halves, Ints<V>);
  const Ints<V> magnitude = bits & 0x7fff, exponent = bits & 0x7c00;
  const Vec<V> subnormal = __builtin_convertvector(magnitude, Vec<V>) * 0x1p-24f;
  // Infinities and NaNs keep the largest exponent.
  const Ints<V> bias = exponent == 0x7c00 ? Ints<V>{} + (224 << 23) : Ints<V>{} + (112 << 23);
  const Ints<V> normal = (magnitude << 13) + bias;
  return Vec<V>((exponent == 0 ? Ints<V>(subnormal) : normal) | ((bits & 0x8000) << 16));
}

/// Replaces `best` and `at` in the lanes where v is larger. NaN is the largest value. Of equal
/// values, the first one remains.
template <int V> DLC_INLINE void takeLarger(Vec<V> v, int32_t tap, Vec<V> &best, Ints<V> &at) {
  Ints<V> larger = (v > best) | ((v != v) & (best == best));
  best = larger ? v : best;
  at = larger ? Ints<V>{} + tap : at;
}

/// Maximum of vectors. Each vector adds the latency of only one operation. NaN is the largest
/// value.
template <int V> struct NanMaximum {
  Vec<V> best = Vec<V>{} - __builtin_inff();
  Ints<V> unordered = {};
  DLC_INLINE void take(Vec<V> v) {
    unordered |= v != v;
    best = v > best ? v : best;
  }
  DLC_INLINE Vec<V> result() const { return unordered ? Vec<V>{} + __builtin_nanf("") : best; }
};

/// Whether addByteProducts() adds four products in each 32-bit lane; otherwise it adds two in each
/// 16-bit lane.
constexpr bool kSumsFourBytes = false;

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_SCALAR_PORTABLE_H

//===- Lanes.h - vectors of 8 lanes without intrinsics --------------------===//
//
// The scalar architecture, for any processor. The compiler splits the vectors into registers that
// the processor has.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_SCALAR_LANES_H
#define DLC_RUNTIME_SIMD_ARCH_SCALAR_LANES_H

#include "runtime/simd/arch/scalar/Portable.h"

namespace dlc::simd {
namespace {

/// Number of lanes that a masked access reads or writes, from the first one on.
using Mask = int64_t;
DLC_INLINE Mask makeLaneMask(int64_t count) {
  return count < 0 ? 0 : count < kLanes ? count : kLanes;
}

template <int V> DLC_INLINE Vec<V> splat(float x) {
  Vec<V> v;
  for (int i = 0; i < V; ++i)
    v[i] = x;
  return v;
}

/// Loads V elements with a stride of `stride` elements.
template <int V, int stride> DLC_INLINE Vec<V> gather(const float *from) {
  Vec<V> v;
  for (int i = 0; i < V; ++i)
    v[i] = from[i * stride];
  return v;
}

template <int V> DLC_INLINE Vec<V> loadMasked(const float *from, Mask mask) {
  Vec<V> v = {};
  for (int i = 0; i < V && i < mask; ++i)
    v[i] = from[i];
  return v;
}
template <int V> DLC_INLINE void storeMasked(float *to, Mask mask, Vec<V> v) {
  for (int i = 0; i < V && i < mask; ++i)
    to[i] = v[i];
}

template <int V> DLC_INLINE void storeNonTemporal(float *to, Vec<V> v) { store<V>(to, v); }
DLC_INLINE void fenceNonTemporal() {}

template <int V> DLC_INLINE void keepInRegister(Vec<V> &) {}

/// Rounds to the nearest integer, ties to even.
template <int V> DLC_INLINE Vec<V> roundToEven(Vec<V> x) {
  for (int i = 0; i < V; ++i)
    x[i] = __builtin_rintf(x[i]);
  return x;
}

/// Returns a * b + c.
template <int V> DLC_INLINE Vec<V> multiplyAdd(Vec<V> a, Vec<V> b, Vec<V> c) { return a * b + c; }

template <int V> DLC_INLINE Vec<V> squareRoot(Vec<V> x) {
  for (int i = 0; i < V; ++i)
    x[i] = __builtin_sqrtf(x[i]);
  return x;
}

/// Returns the larger of a and b in each lane, and b if one of them is NaN.
template <int V> DLC_INLINE Vec<V> maximum(Vec<V> a, Vec<V> b) { return a > b ? a : b; }

/// Returns row[which & 7] in each lane.
template <int V> DLC_INLINE Vec<V> lookUp(const float (&row)[8], Ints<V> which) {
  Vec<V> v;
  for (int i = 0; i < V; ++i)
    v[i] = row[which[i] & 7];
  return v;
}

/// Loads V bf16 elements as f32.
template <int V> DLC_INLINE Vec<V> widen(const uint16_t *from) {
  Ints<V> bits;
  for (int i = 0; i < V; ++i)
    bits[i] = int32_t(uint32_t(from[i]) << 16);
  return Vec<V>(bits);
}
/// Loads the first `count` bf16 elements as f32; the other lanes are 0.
template <int V> DLC_INLINE Vec<V> widenFirst(const uint16_t *from, int64_t count) {
  uint16_t some[V] = {};
  for (int64_t i = 0; i < V && i < count; ++i)
    some[i] = from[i];
  return widen<V>(some);
}

template <int V> DLC_INLINE Ints<V> splatInt(int32_t x) { return Ints<V>{} + x; }
template <int V> DLC_INLINE Ints<V> loadInts(const uint8_t *from) {
  Ints<V> x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
template <int V> DLC_INLINE Vec<V> toFloats(Ints<V> x) {
  return __builtin_convertvector(x, Vec<V>);
}
/// Converts f32 lanes to integers, rounded to the nearest.
template <int V> DLC_INLINE Ints<V> toInts(Vec<V> x) {
  Ints<V> result;
  for (int i = 0; i < V; ++i)
    result[i] = int32_t(__builtin_rintf(x[i]));
  return result;
}
template <int V> DLC_INLINE Ints<V> bytesToInts(const uint8_t *from) {
  Ints<V> x;
  for (int i = 0; i < V; ++i)
    x[i] = from[i];
  return x;
}
/// Stores the lowest byte of each 32-bit lane.
template <int V> DLC_INLINE void storeBytes(void *to, Ints<V> x) {
  for (int i = 0; i < V; ++i)
    static_cast<uint8_t *>(to)[i] = uint8_t(x[i]);
}

/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, two in each 16-bit
/// lane, whose range suffices for 32 products with 4-bit weights.
template <int V> DLC_INLINE Ints<V> addByteProducts(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  int16_t all[2 * V];
  uint8_t left[4 * V];
  int8_t right[4 * V];
  __builtin_memcpy(all, &sums, sizeof all);
  __builtin_memcpy(left, &weights, sizeof left);
  __builtin_memcpy(right, &x, sizeof right);
  for (int i = 0; i < 2 * V; ++i)
    all[i] = int16_t(all[i] + left[2 * i] * right[2 * i] + left[2 * i + 1] * right[2 * i + 1]);
  __builtin_memcpy(&sums, all, sizeof all);
  return sums;
}
/// Adds the two 16-bit halves of each lane, and multiplies the sums by `factor`.
template <int V> DLC_INLINE Ints<V> sumPairs(Ints<V> pairs, int16_t factor) {
  return (((pairs << 16) >> 16) + (pairs >> 16)) * factor;
}

/// Adds the products of unsigned bytes of `weights` and signed bytes of `x`, four in each 32-bit
/// lane. With `isSmall`, all weights are at most 63.
template <int V, bool isSmall>
DLC_INLINE Ints<V> dotBytes(Ints<V> sums, Ints<V> weights, Ints<V> x) {
  for (int i = 0; i < 32; i += 8)
    sums += ((weights >> i) & 255) * ((x << (24 - i)) >> 24);
  return sums;
}
/// Returns table[b] for each byte b of `which`, which must be below 16.
template <int V> DLC_INLINE Ints<V> lookUpBytes(const uint8_t (&table)[16], Ints<V> which) {
  uint8_t bytes[4 * V];
  __builtin_memcpy(bytes, &which, sizeof bytes);
  for (uint8_t &byte : bytes)
    byte = table[byte];
  __builtin_memcpy(&which, bytes, sizeof bytes);
  return which;
}

/// Adds v to `sum` in the lanes whose byte of `positions` is `tap`.
template <int V>
DLC_INLINE void addWhereEqual(Vec<V> &sum, const uint8_t *positions, int32_t tap, Vec<V> v) {
  sum += bytesToInts<V>(positions) == Ints<V>{} + tap ? v : Vec<V>{};
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_SCALAR_LANES_H

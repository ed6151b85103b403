//===- Ints.h - vectors of integers: broadcast of bytes, sum of lanes -----===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_INTS_H
#define DLC_RUNTIME_LIBRARY_SIMD_INTS_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

/// Broadcasts four bytes to every 32-bit lane.
template <int V> DLC_INLINE Ints<V> splatFourBytes(const int8_t *from) {
  int32_t four;
  __builtin_memcpy(&four, from, sizeof four);
  return splatInt<V>(four);
}

template <int V> DLC_INLINE int32_t sumLanes(Ints<V> x) {
  int32_t sum = 0;
  for (int i = 0; i < V; ++i)
    sum += x[i];
  return sum;
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_INTS_H

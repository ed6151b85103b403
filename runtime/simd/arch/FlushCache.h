//===- FlushCache.h - evicts memory from the caches -----------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_FLUSHCACHE_H
#define DLC_RUNTIME_SIMD_ARCH_FLUSHCACHE_H

#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace dlc::simd {
namespace {

/// Evicts the cache lines of a memory range from all caches, on processors with such an
/// instruction. Call `fenceFlushes` after the last range.
inline void flushCache(const void *memory, size_t bytes) {
#ifdef __SSE2__
  for (size_t at = 0; at < bytes; at += 64)
    _mm_clflush(static_cast<const char *>(memory) + at);
#endif
}

/// Waits until all evictions are complete.
inline void fenceFlushes() {
#ifdef __SSE2__
  _mm_mfence();
#endif
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_FLUSHCACHE_H

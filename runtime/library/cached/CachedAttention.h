//===- CachedAttention.h - attention over a cache of keys and values ------===//
//
// Attention of new tokens over the keys and values of all earlier tokens and of the new tokens. The
// caller has already stored those of the new tokens in the cache. Position p is stored in row
// `p % capacity`. A query at position p attends to positions max(0, p - window + 1) to p.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_CACHED_CACHEDATTENTION_H
#define DLC_RUNTIME_LIBRARY_CACHED_CACHEDATTENTION_H

#include "dlc/Export.h"

#include <cstdint>

namespace dlc::cached {

/// Element type of a cache.
enum class Storage : uint8_t { F16, BF16 };

/// Sizes and settings of the attention.
struct Attention {
  int64_t heads = 0, keyHeads = 0; ///< `heads / keyHeads` consecutive heads share keys and values
  int64_t headSize = 0;            ///< a multiple of 16
  int64_t capacity = 0;            ///< number of rows of the cache per key head
  int64_t window = 0;              ///< size of the sliding window; 0: all earlier positions
  Storage storage = Storage::F16;
  float scale = 1;   ///< factor of the scores
  float softCap = 0; ///< c: scores are c * tanh(score / c); 0: none
};

/// Arrays of a call. `sinks` is null or has one score per head (attention sinks), which is included
/// in the softmax but has no value.
struct Arrays {
  const float *queries;          ///< [token][head][headSize]
  const uint16_t *keys, *values; ///< [key head][capacity][headSize]
  const float *sinks;            ///< [head]
  float *results;                ///< [token][head][headSize]
};

/// Returns the size of the scratch memory of attend(), which must be aligned to 64 bytes. Throws
/// dlc::Error if the sizes are not supported.
DLC_EXPORT int64_t getScratchBytes(const Attention &attention);

/// Computes the results of `tokens` queries at the positions from `start` on. Positions are split
/// into parts at multiples of 256, so that results do not depend on the number of threads or of
/// tokens.
/// Throws dlc::Error if the positions that the queries attend to exceed the capacity, and if a
/// position is negative or overflows.
DLC_EXPORT void attend(const Attention &attention, const Arrays &arrays, int64_t start,
                       int64_t tokens, void *scratch, int threads);

} // namespace dlc::cached

#endif // DLC_RUNTIME_LIBRARY_CACHED_CACHEDATTENTION_H

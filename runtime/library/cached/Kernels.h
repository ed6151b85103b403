//===- Kernels.h - kernels for attention over a cache ---------------------===//
//
// Files compiled for different instruction sets include this header. It must not define functions
// with external linkage: the linker keeps one copy, whose instructions a processor may not have.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_CACHED_KERNELS_H
#define DLC_RUNTIME_LIBRARY_CACHED_KERNELS_H

#include <stdint.h>

namespace dlc::cached {

/// Number of positions of a part.
constexpr int kPart = 256;
/// Maximum number of heads with the same keys that are computed together.
constexpr int kHeads = 4;

/// Positions [begin, end) of one key head, at most kPart positions.
struct Part {
  const uint16_t *keys, *values; ///< [capacity][headSize]
  int64_t capacity, headSize, begin, end;
  float scale, softCap;
};

/// Indices of the sums of a part: the largest score; the sum of the exponentials of scores minus
/// the largest one; and, from element kSums on, the sums of these exponentials times values.
constexpr int kLargest = 0, kTotal = 1, kSums = 16;

/// Computes the sums of 1 or kHeads consecutive heads. The queries of a head follow those of the
/// previous head. `stride` is the number of elements between the sums of consecutive heads.
using PartKernel = void (*)(const Part &part, const float *queries, float *sums, int64_t stride);

/// Kernels for one head and for kHeads heads. Index 0: caches of f16; index 1: caches of bf16.
struct Kernels {
  PartKernel one[2], many[2];
};

extern const Kernels avx512Kernels, avx2Kernels, scalarKernels;

} // namespace dlc::cached

#endif // DLC_RUNTIME_LIBRARY_CACHED_KERNELS_H

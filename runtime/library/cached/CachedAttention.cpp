//===- CachedAttention.cpp - attention over a cache of keys and values ----===//
#include "runtime/library/cached/CachedAttention.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/cached/Kernels.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace dlc::cached {

namespace {

/// Number of tokens that are computed together; scratch memory stores the sums of their parts.
constexpr int64_t kTokens = 16;
/// Maximum position. The end of the part of each position does not overflow.
constexpr int64_t kMaxPosition = std::numeric_limits<int64_t>::max() - kPart;

/// Returns the maximum number of parts of one token. Parts begin at multiples of kPart, so that the
/// first and the last part of a window may be incomplete.
int64_t maxParts(const Attention &attention) {
  return attention.window ? (std::min(attention.window, attention.capacity) - 1) / kPart + 2
                          : (attention.capacity - 1) / kPart + 1;
}
/// Returns the number of elements of the sums of a part of one head.
int64_t sumsOf(const Attention &attention) { return kSums + attention.headSize; }

void check(const Attention &attention) {
  const bool isGroup =
      attention.heads > 0 && attention.keyHeads > 0 && attention.heads % attention.keyHeads == 0;
  if (!isGroup)
    runtime::fail("cached attention: required: a number of heads that is a multiple of the "
                  "number of key heads; found: " +
                  std::to_string(attention.heads) + " and " + std::to_string(attention.keyHeads));
  if (attention.headSize < 16 || attention.headSize % 16)
    runtime::fail("cached attention: required: heads whose size is a multiple of 16; found: " +
                  std::to_string(attention.headSize));
  if (attention.capacity < 1 || attention.window < 0)
    runtime::fail("cached attention: required: a capacity of at least 1 and no negative window; "
                  "found: " +
                  std::to_string(attention.capacity) + " and " + std::to_string(attention.window));
}

const Kernels &selectKernels() {
  return *runtime::selectKernels(
      runtime::hostLanes(), [] { return &scalarKernels; }, [] { return &avx2Kernels; },
      [] { return &avx512Kernels; });
}

/// Returns the first position that a query at `position` attends to.
int64_t firstPosition(const Attention &attention, int64_t position) {
  return attention.window ? std::max<int64_t>(0, position - attention.window + 1) : 0;
}

/// Arguments of a call of attend().
struct Call {
  const Attention &attention;
  const Arrays &arrays;
  const Kernels &kernels;
  int64_t start;
  int64_t parts; ///< maximum number of parts of the tokens in scratch memory
  float *sums;   ///< [token][part][head][sumsOf()]

  float *sumsAt(int64_t token, int64_t part, int64_t head) const {
    const int64_t row = (token * parts + part) * attention.heads + head;
    return sums + row * sumsOf(attention);
  }

  /// Returns the number of parts of the query at `position`.
  int64_t countParts(int64_t position) const {
    return position / kPart - firstPosition(attention, position) / kPart + 1;
  }

  /// Computes part `index` of a token for all heads that share a key head. `local` is the index of
  /// the token in scratch memory.
  void compute(int64_t token, int64_t local, int64_t keyHead, int64_t index) const {
    const int64_t position = start + token, first = firstPosition(attention, position);
    const int64_t aligned = (first / kPart + index) * kPart;
    const int64_t rows = attention.capacity * attention.headSize;
    const Part part = {arrays.keys + keyHead * rows,
                       arrays.values + keyHead * rows,
                       attention.capacity,
                       attention.headSize,
                       std::max(first, aligned),
                       std::min(position + 1, aligned + kPart),
                       attention.scale,
                       attention.softCap};
    const int kind = attention.storage == Storage::BF16 ? 1 : 0;
    const int64_t group = attention.heads / attention.keyHeads;
    const int64_t end = (keyHead + 1) * group;
    for (int64_t head = keyHead * group; head < end;) {
      const bool isMany = end - head >= kHeads;
      (isMany ? kernels.many : kernels.one)[kind](
          part, arrays.queries + (token * attention.heads + head) * attention.headSize,
          sumsAt(local, index, head), sumsOf(attention));
      head += isMany ? kHeads : 1;
    }
  }

  /// Combines the sums of all parts of a head, in the order of the parts, to the result.
  void combine(int64_t token, int64_t local, int64_t head) const {
    const int64_t count = countParts(start + token);
    float largest = arrays.sinks ? arrays.sinks[head] : -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < count; ++i)
      largest = std::max(sumsAt(local, i, head)[kLargest], largest);
    float total = arrays.sinks ? std::exp(arrays.sinks[head] - largest) : 0;
    float *to = arrays.results + (token * attention.heads + head) * attention.headSize;
    std::fill_n(to, attention.headSize, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      const float *from = sumsAt(local, i, head);
      const float factor = std::exp(from[kLargest] - largest);
      total += factor * from[kTotal];
      for (int64_t d = 0; d < attention.headSize; ++d)
        to[d] += factor * from[kSums + d];
    }
    for (int64_t d = 0; d < attention.headSize; ++d)
      to[d] /= total;
  }
};

} // namespace

int64_t getScratchBytes(const Attention &attention) {
  check(attention);
  return kTokens * maxParts(attention) * attention.heads * sumsOf(attention) *
         int64_t(sizeof(float));
}

void attend(const Attention &attention, const Arrays &arrays, int64_t start, int64_t tokens,
            void *scratch, int threads) {
  check(attention);
  if (start < 0 || tokens < 0 || tokens > kMaxPosition - start)
    runtime::fail("cached attention: required: positions from 0 to " +
                  std::to_string(kMaxPosition) + "; found: " + std::to_string(tokens) +
                  " tokens from position " + std::to_string(start) + " on");
  // The new tokens are already in the cache. Their rows must not have replaced positions that the
  // first query attends to.
  const int64_t needed = start + tokens - firstPosition(attention, start);
  if (needed > attention.capacity)
    runtime::fail("cached attention: the positions exceed the cache; required: at most " +
                  std::to_string(attention.capacity) + " positions; found: " +
                  std::to_string(needed) + "; use a larger capacity, or fewer tokens at once");
  // Without a window, the last position has the most parts.
  const int64_t parts =
      std::min(maxParts(attention), std::max<int64_t>(0, start + tokens - 1) / kPart + 1);
  const Call call = {attention, arrays, selectKernels(),
                     start,     parts,  static_cast<float *>(scratch)};
  for (int64_t begin = 0; begin < tokens; begin += kTokens) {
    const int64_t count = std::min(kTokens, tokens - begin);
    runtime::parallelFor(
        threads, count * attention.keyHeads * parts, 1, [&](int64_t first, int64_t last, int) {
          for (int64_t i = first; i < last; ++i) {
            const int64_t local = i / (attention.keyHeads * parts);
            const int64_t index = i % parts;
            if (index < call.countParts(start + begin + local))
              call.compute(begin + local, local, i / parts % attention.keyHeads, index);
          }
        });
    runtime::parallelFor(
        threads, count * attention.heads, 4, [&](int64_t first, int64_t last, int) {
          for (int64_t i = first; i < last; ++i)
            call.combine(begin + i / attention.heads, i / attention.heads, i % attention.heads);
        });
  }
}

} // namespace dlc::cached

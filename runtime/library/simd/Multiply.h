//===- Multiply.h - sums over channels in registers with weight prefetch --===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_MULTIPLY_H
#define DLC_RUNTIME_LIBRARY_SIMD_MULTIPLY_H

#include "runtime/library/simd/Lanes.h"

namespace dlc::simd {
namespace {

DLC_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
DLC_INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/// Maximum number of tiles whose accumulators fit in the vector registers with two vectors of
/// output channels. With one vector of output channels, twice as many tiles fit.
template <int V> constexpr int kMaxRows = V == 16 ? 14 : 6;

/// Arguments of `multiply`, a matmul over input channels in blocks of V, for one or two vectors of
/// output channels. The weights of all output vectors are contiguous for each input channel.
struct Multiplication {
  const float *data;
  int64_t dataBlock;
  const float *weights;
  float *to;
  int64_t toBlock;
  int64_t blocks;
  bool add;
  /// Weights of the next multiplication, which are prefetched. Their count is the same as that of
  /// `weights`.
  const float *ahead;
  /// For each input channel, the cache lines at `ahead` and at `ahead + aheadOther` are prefetched.
  /// Then `ahead` advances by `aheadStep` elements.
  int64_t aheadStep = 0, aheadOther = 0;
};

template <int V, int tiles, int wide> void multiply(const Multiplication &task) {
  Vec<V> sums[tiles][wide] = {};
  const float *data = task.data, *weights = task.weights, *ahead = task.ahead;
  int64_t step = task.aheadStep, other = task.aheadOther;
  for (int64_t block = 0; block < task.blocks; ++block, data += task.dataBlock)
    for (int c = 0; c < V; ++c, weights += wide * V, ahead += step) {
      Vec<V> w[wide];
#pragma GCC unroll 2
      for (int o = 0; o < wide; ++o)
        w[o] = load<V>(weights + o * V);
      // Prefetch into L2: the L1 cache is too small for weights that are used this much later.
      __builtin_prefetch(ahead, 0, 2);
      __builtin_prefetch(ahead + other, 0, 2);
#pragma GCC unroll 28
      for (int t = 0; t < tiles; ++t) {
        Vec<V> x = splat<V>(data[t * V + c]);
#pragma GCC unroll 2
        for (int o = 0; o < wide; ++o)
          sums[t][o] += x * w[o];
      }
    }
#pragma GCC unroll 28
  for (int t = 0; t < tiles; ++t)
#pragma GCC unroll 2
    for (int o = 0; o < wide; ++o) {
      float *at = task.to + o * task.toBlock + t * V;
      store<V>(at, task.add ? load<V>(at) + sums[t][o] : sums[t][o]);
    }
}

using Multiply = void (*)(const Multiplication &);

template <int V, int wide, int most> struct MultiplyTable {
  Multiply of[most + 1];
  template <int... I>
  constexpr explicit MultiplyTable(Indices<I...>) : of{nullptr, multiply<V, I + 1, wide>...} {}
  constexpr MultiplyTable() : MultiplyTable(Count<most>()) {}
};

template <int V, int wide, int most>
DLC_INLINE void multiplyTiles(Multiplication task, int64_t count) {
  static constexpr MultiplyTable<V, wide, most> table;
  constexpr int64_t line = 64 / sizeof(float);
  // Split the tiles into groups of nearly equal size. Each group prefetches its share of the next
  // weights, since memory bandwidth limits the prefetch during one group.
  const int64_t groups = (count + most - 1) / most, part = task.blocks * V * wide * V / groups;
  task.aheadStep = wide * V / groups;
  task.aheadOther = task.aheadStep > line ? line : 0;
  for (int64_t g = 0, at = 0; g < groups; ++g) {
    int64_t size = (count - at) / (groups - g);
    table.of[size](task);
    task.data += size * V;
    task.to += size * V;
    task.ahead += part;
    at += size;
  }
}

/// Multiplies `count` tiles by the weights of two vectors of output channels if `two` is set,
/// otherwise of one vector.
template <int V>
DLC_INLINE void multiplyTiles(bool two, const Multiplication &task, int64_t count) {
  if (two)
    multiplyTiles<V, 2, kMaxRows<V>>(task, count);
  else
    multiplyTiles<V, 1, 2 * kMaxRows<V>>(task, count);
}

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_MULTIPLY_H

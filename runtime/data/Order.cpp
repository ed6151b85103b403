//===- Order.cpp - order of the samples in an epoch --------------------------===//
#include "runtime/data/Order.h"

#include "runtime/program/Message.h"

#include <numeric>

namespace dlc::data {

namespace {

/// SplitMix64 random number generator (Steele, Lea, Flood 2014): a mixed counter.
struct SplitMix64 {
  uint64_t state;

  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t operator()() { return mix(state += 0x9e3779b97f4a7c15u); }

  /// Returns a uniform random number in [0, bound), without bias (Lemire 2019).
  uint64_t below(uint64_t bound) {
    unsigned __int128 product = static_cast<unsigned __int128>((*this)()) * bound;
    if (static_cast<uint64_t>(product) < bound)
      for (uint64_t least = -bound % bound; static_cast<uint64_t>(product) < least;)
        product = static_cast<unsigned __int128>((*this)()) * bound;
    return static_cast<uint64_t>(product >> 64);
  }
};

} // namespace

std::vector<int64_t> shuffled(int64_t size, uint64_t seed, uint64_t epoch) {
  if (size < 0)
    runtime::fail("required: a size of 0 or more; found: ", size);
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t(0));
  // The seed is mixed before the epoch is added, so that seeds 1 and 2, for example, have no epoch
  // in common.
  SplitMix64 draw{SplitMix64::mix(seed + 0x9e3779b97f4a7c15u) + epoch * 0xd1342543de82ef95u};
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draw.below(i)]);
  return order;
}

SampleOrder::SampleOrder(int64_t size, const LoaderOptions &options, uint64_t epoch)
    : size(size), batch(options.batch), rank(options.rank), world(options.world) {
  if (options.shuffle)
    permutation = shuffled(size, options.seed, epoch);
}

int64_t countRankSamples(int64_t size, const LoaderOptions &options) {
  return size / options.world + (!options.dropLast && size % options.world != 0);
}

int64_t countBatches(int64_t size, const LoaderOptions &options) {
  int64_t share = countRankSamples(size, options);
  return share / options.batch + (!options.dropLast && share % options.batch != 0);
}

} // namespace dlc::data

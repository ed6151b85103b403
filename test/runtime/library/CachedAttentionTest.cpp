//===- CachedAttentionTest.cpp - attention over a cache of keys and values --===//
#include "runtime/library/cached/CachedAttention.h"
#include "dlc/Error.h"
#include "runtime/program/Numeric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace dlc;
using namespace dlc::cached;

namespace {

/// Random queries, and keys and values of all positions up to `start + tokens`.
struct Sample {
  Attention attention;
  int64_t start, tokens;
  std::vector<float> queries, keys, values, sinks;
  std::vector<uint16_t> cachedKeys, cachedValues;

  Sample(const Attention &given, int64_t start, int64_t tokens, unsigned seed)
      : attention(given), start(start), tokens(tokens) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const int64_t positions = start + tokens, size = given.headSize;
    queries.resize(size_t(tokens * given.heads * size));
    keys.resize(size_t(given.keyHeads * positions * size));
    values.resize(keys.size());
    sinks.resize(size_t(given.heads));
    for (auto *each : {&queries, &keys, &values, &sinks})
      for (float &x : *each)
        x = normal(random);
    cachedKeys = fill(keys);
    cachedValues = fill(values);
  }

  /// Rounds elements to the cache's format, and stores the last positions in a ring. Rows without a
  /// position are NaN.
  std::vector<uint16_t> fill(std::vector<float> &from) const {
    const int64_t positions = start + tokens, size = attention.headSize;
    std::vector<uint16_t> cache(size_t(attention.keyHeads * attention.capacity * size), 0x7fff);
    for (int64_t i = 0; i < int64_t(from.size()); ++i) {
      const int64_t head = i / (positions * size), position = i / size % positions;
      const int64_t row = head * attention.capacity + position % attention.capacity;
      uint16_t &to = cache[size_t(row * size + i % size)];
      float &x = from[size_t(i)];
      if (attention.storage == Storage::BF16) {
        const auto rounded = runtime::BFloat16::from(x);
        to = rounded.bits;
        x = rounded;
      } else {
        const auto rounded = runtime::Float16::from(x);
        to = rounded.bits;
        x = rounded;
      }
    }
    return cache;
  }

  std::vector<float> run(bool hasSinks, int threads) const {
    std::vector<float> results(queries.size(), -1.0f);
    std::vector<float> scratch(size_t(getScratchBytes(attention)) / 4 + 16);
    auto at = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    attend(attention,
           {queries.data(), cachedKeys.data(), cachedValues.data(),
            hasSinks ? sinks.data() : nullptr, results.data()},
           start, tokens, reinterpret_cast<void *>(at), threads);
    return results;
  }

  /// Expects that attend() writes only getScratchBytes() bytes of scratch memory.
  void expectUnchangedAfterScratch() const {
    const size_t used = size_t(getScratchBytes(attention)) / sizeof(float);
    std::vector<float> scratch(used + 8192, 7.0f), results(queries.size());
    auto at = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    auto *aligned = reinterpret_cast<float *>(at);
    attend(attention,
           {queries.data(), cachedKeys.data(), cachedValues.data(), nullptr, results.data()}, start,
           tokens, aligned, 1);
    for (const float *each = aligned + used; each != scratch.data() + scratch.size(); ++each)
      ASSERT_EQ(*each, 7.0f) << "window " << attention.window << " start " << start;
  }

  /// Returns the result of one element, computed in f64.
  double reference(int64_t token, int64_t head, int64_t element, bool hasSinks) const {
    const int64_t position = start + token, positions = start + tokens, size = attention.headSize;
    const int64_t first =
        attention.window ? std::max<int64_t>(0, position - attention.window + 1) : 0;
    const int64_t keyHead = head / (attention.heads / attention.keyHeads);
    double total = hasSinks ? std::exp(double(sinks[size_t(head)])) : 0, sum = 0;
    for (int64_t p = first; p <= position; ++p) {
      const int64_t row = (keyHead * positions + p) * size;
      double score = 0;
      for (int64_t d = 0; d < size; ++d)
        score += double(queries[size_t((token * attention.heads + head) * size + d)]) *
                 double(keys[size_t(row + d)]);
      score *= double(attention.scale);
      if (attention.softCap != 0)
        score = attention.softCap * std::tanh(score / attention.softCap);
      total += std::exp(score);
      sum += std::exp(score) * double(values[size_t(row + element)]);
    }
    return sum / total;
  }

  void expectReference(bool hasSinks) const {
    const std::vector<float> results = run(hasSinks, 2);
    const int64_t size = attention.headSize;
    for (int64_t i = 0; i < int64_t(results.size()); i += 7)
      ASSERT_NEAR(
          results[size_t(i)],
          reference(i / size / attention.heads, i / size % attention.heads, i % size, hasSinks),
          1e-5)
          << "element " << i;
  }
};

Attention makeAttention(int64_t heads, int64_t keyHeads, int64_t size, int64_t capacity,
                        int64_t window = 0) {
  Attention attention;
  attention.heads = heads;
  attention.keyHeads = keyHeads;
  attention.headSize = size;
  attention.capacity = capacity;
  attention.window = window;
  attention.scale = 1 / std::sqrt(float(size));
  return attention;
}

TEST(CachedAttention, EqualsSumsInF64AtAllLengths) {
  for (Storage storage : {Storage::F16, Storage::BF16})
    for (int64_t start : {0, 1, 254, 255, 256, 300, 511, 700}) {
      Attention attention = makeAttention(9, 3, 64, 704);
      attention.storage = storage;
      for (int64_t tokens : {1, 3})
        Sample(attention, start, tokens, unsigned(start)).expectReference(false);
    }
}

TEST(CachedAttention, GroupsHeads) {
  for (auto [heads, keyHeads] : {std::pair<int64_t, int64_t>{4, 1}, {14, 2}, {5, 5}, {6, 1}})
    for (int64_t size : {16, 48, 256})
      Sample(makeAttention(heads, keyHeads, size, 40), 20, 19, 3).expectReference(false);
}

TEST(CachedAttention, SlidesOverARing) {
  for (int64_t window : {1, 5, 256, 300})
    for (int64_t start : {0, 4, 299, 1000})
      for (int64_t tokens : {1, 18}) {
        const int64_t capacity = window + tokens - 1;
        Sample(makeAttention(4, 2, 32, capacity, window), start, tokens, 9).expectReference(false);
      }
}

TEST(CachedAttention, ScratchMemoryDependsOnTheWindow) {
  const int64_t small = getScratchBytes(makeAttention(4, 2, 32, 300, 300));
  EXPECT_EQ(getScratchBytes(makeAttention(4, 2, 32, 100000, 300)), small);
  EXPECT_EQ(getScratchBytes(makeAttention(4, 2, 32, 300, 100000)), small);
  EXPECT_GT(getScratchBytes(makeAttention(4, 2, 32, 100000)), 100 * small);
}

TEST(CachedAttention, ScratchMemorySuffices) {
  for (int64_t window : {0, 1, 2, 256, 257, 300})
    for (int64_t start : {0, 1, 255, 256, 511, 512, 600}) {
      const Attention attention = makeAttention(2, 1, 16, 640, window);
      Sample(attention, start, 17, 5).expectUnchangedAfterScratch();
    }
}

TEST(CachedAttention, CapsScoresAndAddsSinks) {
  for (float cap : {0.0f, 2.0f, 50.0f})
    for (bool hasSinks : {false, true}) {
      Attention attention = makeAttention(4, 2, 64, 300);
      attention.softCap = cap;
      attention.scale = 1;
      Sample(attention, 270, 5, 4).expectReference(hasSinks);
    }
}

TEST(CachedAttention, ResultsDependNeitherOnThreadsNorOnTokens) {
  const Attention attention = makeAttention(9, 3, 64, 700);
  const Sample sample(attention, 560, 40, 6);
  const std::vector<float> results = sample.run(true, 1);
  for (int threads : {2, 3, 7})
    EXPECT_EQ(sample.run(true, threads), results);
  Sample last = sample;
  const int64_t row = attention.heads * attention.headSize;
  last.queries.assign(sample.queries.end() - row, sample.queries.end());
  last.start = 599;
  last.tokens = 1;
  EXPECT_EQ(last.run(true, 2), std::vector<float>(results.end() - row, results.end()));
}

TEST(CachedAttention, NaNScoresGiveNaN) {
  Sample sample(makeAttention(4, 4, 16, 600), 599, 1, 2);
  sample.cachedKeys[size_t(3 * 16)] = 0x7e00;
  const std::vector<float> results = sample.run(false, 1);
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(std::isnan(results[size_t(i)]), i < 16) << i;
}

TEST(CachedAttention, PartsWithoutFiniteScoresHaveNoWeight) {
  for (int64_t masked : {0, 256}) {
    Sample sample(makeAttention(1, 1, 16, 600), 599, 1, 2);
    sample.queries[0] = 1;
    for (int64_t p = masked; p < masked + 256; ++p) {
      sample.keys[size_t(p * 16)] = -INFINITY;
      sample.cachedKeys[size_t(p * 16)] = 0xfc00;
    }
    sample.expectReference(false);
  }
}

/// Expects that attend() for one token at `start` throws an error with `text`.
void expectError(const Attention &attention, int64_t start, const std::string &text) {
  try {
    attend(attention, {}, start, 1, nullptr, 1);
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(CachedAttention, RefusesPositionsThatOverflow) {
  const int64_t largest = std::numeric_limits<int64_t>::max();
  for (int64_t start : {largest, largest - 1, int64_t(-1)})
    expectError(makeAttention(4, 2, 32, 8, 4), start,
                "1 tokens from position " + std::to_string(start));
}

TEST(CachedAttention, RefusesSizesThatDoNotFit) {
  expectError(makeAttention(4, 2, 32, 8), 8, "at most 8 positions; found: 9");
  expectError(makeAttention(4, 2, 32, 3, 4), 9, "at most 3 positions; found: 4");
  expectError(makeAttention(4, 3, 32, 8), 0, "found: 4 and 3");
  expectError(makeAttention(4, 2, 24, 8), 0, "multiple of 16; found: 24");
}

} // namespace

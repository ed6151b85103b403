//===- OrderTest.cpp - order of samples in an epoch ---------------------------===//
#include "dlc/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace dlc;
using namespace dlc::data;

namespace {

/// Returns a dataset whose sample i has the value i.
Dataset numbers(int64_t size) {
  Tensor x(DType::I64, {size});
  for (int64_t i = 0; i < size; ++i)
    x.data<int64_t>()[i] = i;
  return arrays({{"x", x}});
}

std::vector<int64_t> epochOf(Loader &loader) {
  std::vector<int64_t> seen;
  while (auto batch = loader.next())
    for (int64_t i = 0; i < batch->samples(); ++i)
      seen.push_back((*batch)[0].data<int64_t>()[i]);
  return seen;
}

std::vector<int64_t> epochOf(const Dataset &dataset, const LoaderOptions &options) {
  Loader loader(dataset, options);
  return epochOf(loader);
}

} // namespace

// Expected orders were computed by an independent implementation of the documented generator. A
// change here would change the runs of all users.
TEST(Order, IsTheDocumentedOne) {
  EXPECT_EQ(shuffled(10, 0, 0), (std::vector<int64_t>{1, 2, 5, 7, 0, 8, 4, 3, 9, 6}));
  EXPECT_EQ(shuffled(10, 0, 1), (std::vector<int64_t>{4, 6, 5, 8, 7, 9, 1, 0, 2, 3}));
  EXPECT_EQ(shuffled(10, 7, 3), (std::vector<int64_t>{3, 9, 1, 5, 7, 8, 0, 2, 4, 6}));
  uint64_t hash = 0;
  for (int64_t i : shuffled(1000000, 1, 1))
    hash = hash * 31 + static_cast<uint64_t>(i);
  EXPECT_EQ(hash, 15651868715016016130u);
  EXPECT_TRUE(shuffled(0, 1, 1).empty());
}

TEST(Order, EveryPlaceIsEquallyLikely) {
  // 24 permutations of four samples in 24000 draws: each is expected 1000 times, with a standard
  // deviation of about 31.
  std::map<std::vector<int64_t>, int> counts;
  for (uint64_t epoch = 0; epoch < 24000; ++epoch)
    ++counts[shuffled(4, 11, epoch)];
  EXPECT_EQ(counts.size(), 24u);
  for (const auto &[order, count] : counts)
    EXPECT_NEAR(count, 1000, 155);
}

TEST(Order, DoesNotDependOnWorkers) {
  LoaderOptions options{.batch = 7, .shuffle = true, .seed = 5};
  std::vector<std::vector<int64_t>> epochs;
  for (int workers : {0, 1, 2, 5})
    for (int prefetch : {1, 3, 20}) {
      options.workers = workers;
      options.prefetch = prefetch;
      Loader loader(numbers(100), options);
      std::vector<int64_t> first = epochOf(loader), second = epochOf(loader);
      EXPECT_EQ(first, shuffled(100, 5, 0));
      EXPECT_EQ(second, shuffled(100, 5, 1));
    }
}

TEST(Order, RanksShareAnEpoch) {
  for (bool shuffle : {false, true})
    for (bool dropLast : {false, true}) {
      std::vector<int64_t> all;
      size_t each = dropLast ? 25 : 26;
      for (int64_t rank = 0; rank < 4; ++rank) {
        std::vector<int64_t> own = epochOf(numbers(103), {.batch = dropLast ? 5 : 4,
                                                          .shuffle = shuffle,
                                                          .seed = 3,
                                                          .dropLast = dropLast,
                                                          .rank = rank,
                                                          .world = 4});
        EXPECT_EQ(own.size(), each);
        all.insert(all.end(), own.begin(), own.end());
      }
      std::set<int64_t> distinct(all.begin(), all.end());
      // 103 samples cannot be divided by four: one sample is repeated or, with dropLast, three are
      // dropped.
      EXPECT_EQ(distinct.size(), dropLast ? 100u : 103u);
    }
}

TEST(Order, AWholeBatchIsThatOfEachRank) {
  for (int64_t world : {1, 2, 4}) {
    // Eight samples in a global batch, whatever the number of ranks. The remaining five are filled
    // up from the beginning.
    std::vector<std::vector<int64_t>> ranks;
    for (int64_t rank = 0; rank < world; ++rank)
      ranks.push_back(epochOf(numbers(29), {.batch = 8 / world, .rank = rank, .world = world}));
    for (int64_t step = 0; step < 3; ++step)
      for (int64_t place = 0; place < 8; ++place) {
        auto own = static_cast<size_t>(step * (8 / world) + place % (8 / world));
        EXPECT_EQ(ranks[static_cast<size_t>(place / (8 / world))][own], step * 8 + place);
      }
    EXPECT_EQ(ranks.back().back(), (24 + (5 + world - 1) / world * world - 1) % 29);
  }
}

TEST(Order, ContinuesAtABatch) {
  for (int workers : {0, 2}) {
    LoaderOptions options{.batch = 6, .shuffle = true, .seed = 9, .workers = workers};
    Loader whole(numbers(50), options);
    epochOf(whole);
    std::vector<int64_t> second = epochOf(whole);
    for (int64_t batch = 0; batch <= whole.batches(); ++batch) {
      Loader resumed(numbers(50), options);
      resumed.seek({1, batch});
      EXPECT_EQ(resumed.position(), (Position{1, batch}));
      size_t skipped = std::min<size_t>(second.size(), static_cast<size_t>(6 * batch));
      EXPECT_EQ(epochOf(resumed),
                std::vector<int64_t>(second.begin() + static_cast<std::ptrdiff_t>(skipped),
                                     second.end()));
      EXPECT_EQ(epochOf(resumed), shuffled(50, 9, 2));
    }
    EXPECT_THROW(whole.seek({0, whole.batches() + 1}), Error);
    whole.setEpoch(7);
    EXPECT_EQ(epochOf(whole), shuffled(50, 9, 7));
  }
}

TEST(Order, LoopsAreEpochs) {
  auto batches = loader<1>(numbers(10), {.batch = 4, .shuffle = true, .seed = 1});
  auto loop = [&](size_t most) {
    std::vector<int64_t> seen;
    for (auto [x] : batches) {
      seen.insert(seen.end(), x.data<int64_t>(), x.data<int64_t>() + x.elements());
      if (seen.size() >= most)
        break;
    }
    return seen;
  };
  EXPECT_EQ(loop(100), shuffled(10, 1, 0));
  loop(4); // leaves epoch 1 before its end
  EXPECT_EQ(loop(100), shuffled(10, 1, 2));
  batches.loader().seek({0, 1});
  std::vector<int64_t> rest = shuffled(10, 1, 0);
  rest.erase(rest.begin(), rest.begin() + 4);
  EXPECT_EQ(loop(100), rest);
}

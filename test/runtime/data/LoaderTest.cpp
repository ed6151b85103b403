//===- LoaderTest.cpp - data loader: threads, buffers, errors, ends of epochs -===//
#include "dlc/data.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

using namespace dlc;
using namespace dlc::data;

namespace {

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

/// Counts calls of a dataset's function and lets a test wait for them.
struct Counter {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t calls = 0;

  void count() {
    std::lock_guard lock(mutex);
    ++calls;
    changed.notify_all();
  }
  /// Returns whether the count reaches `wanted` within a minute.
  bool reaches(int64_t wanted) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::minutes(1), [&] { return calls >= wanted; });
  }
  int64_t now() {
    std::lock_guard lock(mutex);
    return calls;
  }
};

Dataset counted(Counter &counter, int64_t size) {
  return function(size,
                  [&counter](int64_t i) {
                    counter.count();
                    return Sample{scalar(float(i))};
                  },
                  {{"x", DType::F32, {}}});
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(Loader, MakesBatchesWhileTheStepRuns) {
  for (int workers : {1, 3})
    for (int prefetch : {1, 2, 5}) {
      Counter counter;
      Loader loader(counted(counter, 1000), {.batch = 4, .workers = workers, .prefetch = prefetch});
      for (int64_t taken = 1; taken <= 20; ++taken) {
        auto batch = loader.next();
        ASSERT_TRUE(batch);
        // While this thread uses a batch, the workers prepare exactly `prefetch` further ones.
        ASSERT_TRUE(counter.reaches(4 * (taken + prefetch)));
        EXPECT_EQ(counter.now(), 4 * (taken + prefetch));
      }
      // One set of buffers is in use, and one may be returned while the next batch is started.
      EXPECT_LE(loader.buffersMade(), static_cast<size_t>(prefetch + 2));
    }
}

TEST(Loader, NothingIsReadBeforeItIsAskedFor) {
  Counter counter;
  Loader loader(counted(counter, 100), {.batch = 4, .workers = 0});
  EXPECT_EQ(counter.now(), 0);
  loader.next();
  EXPECT_EQ(counter.now(), 4);
}

TEST(Loader, BatchesKeepTheirMemoryAndAreAligned) {
  Counter counter;
  std::vector<Batch> kept;
  {
    Loader loader(counted(counter, 40), {.batch = 3, .workers = 2});
    while (auto batch = loader.next())
      kept.push_back(std::move(*batch));
    EXPECT_EQ(loader.buffersMade(), kept.size());
  }
  ASSERT_EQ(kept.size(), 14u);
  std::set<void *> places;
  for (size_t b = 0; b < kept.size(); ++b) {
    EXPECT_EQ(kept[b].position, (Position{0, static_cast<int64_t>(b)}));
    EXPECT_EQ(kept[b].samples(), b == 13 ? 1 : 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(kept[b][0].raw()) % 64, 0u);
    places.insert(kept[b][0].raw());
    for (int64_t i = 0; i < kept[b].samples(); ++i)
      EXPECT_EQ(kept[b][0].data<float>()[i], float(3 * b + static_cast<size_t>(i)));
  }
  EXPECT_EQ(places.size(), 14u);
  EXPECT_EQ(kept[0].named().count("x"), 1u);
}

TEST(Loader, DropsALastBatchThatIsNotFull) {
  Counter counter;
  Loader loader(counted(counter, 11), {.batch = 4, .dropLast = true});
  EXPECT_EQ(loader.batches(), 2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    int64_t batches = 0;
    while (auto batch = loader.next()) {
      EXPECT_EQ(batch->samples(), 4);
      EXPECT_EQ(batch->position, (Position{static_cast<uint64_t>(epoch), batches++}));
    }
    EXPECT_EQ(batches, 2);
  }
}

TEST(Loader, ErrorsComeOutWithTheSample) {
  for (int workers : {0, 1, 4}) {
    Dataset bad = function(30,
                           [](int64_t i) -> Sample {
                             if (i == 17)
                               throw std::runtime_error("the disk is gone");
                             if (i == 23)
                               return {scalar(1), scalar(2)};
                             if (i == 28)
                               throw 5;
                             return {scalar(float(i))};
                           },
                           {{"x", DType::F32, {}}});
    Loader loader(bad, {.batch = 5, .workers = workers, .prefetch = 3});
    for (int b = 0; b < 3; ++b)
      EXPECT_TRUE(loader.next());
    EXPECT_EQ(errorOf([&] { loader.next(); }), "sample 17 (epoch 0, batch 3): the disk is gone");
    EXPECT_EQ(errorOf([&] { loader.next(); }),
              "sample 23 (epoch 0, batch 4): required: 1 tensors in each sample; found: 2");
    EXPECT_EQ(errorOf([&] { loader.next(); }),
              "sample 28 (epoch 0, batch 5): an exception that is not derived from std::exception");
    EXPECT_FALSE(loader.next());
    EXPECT_TRUE(loader.next()); // the next epoch begins
  }
}

TEST(Loader, EndsCleanlyInTheMiddle) {
  // Destroys, seeks or abandons loaders while their threads read. Batches that were started before
  // must not be returned.
  for (int round = 0; round < 30; ++round) {
    Counter counter;
    Loader loader(counted(counter, 1000), {.batch = 2, .workers = 4, .prefetch = 8});
    for (int i = 0; i < round % 5; ++i)
      loader.next();
    loader.seek({static_cast<uint64_t>(round), 100 + round});
    auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ((*batch)[0].data<float>()[0], float(2 * (100 + round)));
    EXPECT_EQ(batch->position, (Position{static_cast<uint64_t>(round), 100 + round}));
  }
}

TEST(Loader, GeneratorsComeInOrder) {
  // A generator of 23 samples, which differ between epochs.
  Dataset stream = generator(
      [](uint64_t epoch) -> Generator {
        return [i = int64_t(0), epoch]() mutable -> std::optional<Sample> {
          if (i == 23)
            return std::nullopt;
          return Sample{scalar(float(100 * epoch) + float(i++))};
        };
      },
      {{"x", DType::F32, {}}});
  for (int workers : {0, 3})
    for (bool dropLast : {false, true}) {
      Loader loader(stream, {.batch = 5, .workers = workers, .dropLast = dropLast});
      EXPECT_EQ(loader.batches(), -1);
      for (uint64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<float> seen;
        while (auto batch = loader.next())
          seen.insert(seen.end(), (*batch)[0].data<float>(),
                      (*batch)[0].data<float>() + batch->samples());
        ASSERT_EQ(seen.size(), dropLast ? 20u : 23u);
        for (size_t i = 0; i < seen.size(); ++i)
          EXPECT_EQ(seen[i], float(100 * epoch) + float(i));
      }
      loader.seek({4, 2});
      EXPECT_EQ((*loader.next())[0].data<float>()[0], 410.f);
      loader.seek({4, 9}); // seeks beyond the end of the epoch
      EXPECT_FALSE(loader.next());
    }
  // Each rank gets one sample of each group of `world` samples. The last group is incomplete.
  Loader second(stream, {.batch = 3, .workers = 1, .rank = 1, .world = 4});
  std::vector<float> seen;
  while (auto batch = second.next())
    seen.insert(seen.end(), (*batch)[0].data<float>(),
                (*batch)[0].data<float>() + batch->samples());
  EXPECT_EQ(seen, (std::vector<float>{1, 5, 9, 13, 17}));
}

TEST(Loader, GeneratorsErrors) {
  Dataset stream = generator(
      [](uint64_t) -> Generator {
        return [i = 0]() mutable -> std::optional<Sample> {
          if (i == 7)
            throw std::runtime_error("cut off");
          return Sample{scalar(float(i++))};
        };
      },
      {{"x", DType::F32, {}}});
  for (int workers : {0, 1}) {
    Loader loader(stream, {.batch = 4, .workers = workers});
    EXPECT_TRUE(loader.next());
    EXPECT_EQ(errorOf([&] { loader.next(); }),
              "epoch 0, batch 1, sample 3 of this batch, after 3 draws: cut off");
    EXPECT_FALSE(loader.next());
    EXPECT_TRUE(loader.next());
  }
  EXPECT_NE(errorOf([&] { Loader(stream, {.shuffle = true}); }).find("shuffle off"),
            std::string::npos);
}

TEST(Loader, OptionsAreChecked) {
  Counter counter;
  Dataset data = counted(counter, 5);
  for (LoaderOptions bad :
       {LoaderOptions{.batch = 0}, LoaderOptions{.workers = -1}, LoaderOptions{.prefetch = 0},
        LoaderOptions{.rank = 1}, LoaderOptions{.rank = -1}, LoaderOptions{.world = 0}})
    EXPECT_THROW(Loader(data, bad), Error);
  EXPECT_NE(errorOf([&] { loader(data); }).find("write loader<1>"), std::string::npos);
}

TEST(Loader, AnEmptyDatasetHasNoBatches) {
  Loader loader(function(0, [](int64_t) { return Sample(); }, {{"x", DType::F32, {2}}}), {});
  EXPECT_EQ(loader.batches(), 0);
  EXPECT_FALSE(loader.next());
  EXPECT_FALSE(loader.next());
}

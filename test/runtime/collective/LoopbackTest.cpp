//===- LoopbackTest.cpp - worlds whose ranks are threads ----------------------===//
#include "EngineTests.h"
#include "dlc/Error.h"
#include "runtime/collective/World.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <thread>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

/// Runs the body on one thread for each rank. Returns the error message of each rank.
std::vector<std::string> onRanks(int size, const std::function<void(World &)> &body) {
  auto worlds = createLoopbackWorlds(size);
  std::vector<std::string> errors(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(*worlds[rank]);
      } catch (const Error &error) {
        errors[rank] = error.what();
      }
      worlds[rank].reset();
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

void expectNone(const std::vector<std::string> &errors) {
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

} // namespace

TEST(Loopback, EachCollectiveDoesWhatItIsCalled) {
  for (int size : {1, 2, 3, 4})
    expectNone(onRanks(size, test::eachCollective));
}

TEST(Loopback, EachTypeIsReducedAsCombineDoes) { expectNone(onRanks(3, test::eachType)); }

TEST(Loopback, ManyAreUnderWayAtOnce) {
  for (int size : {1, 3})
    expectNone(onRanks(size, test::manyAtOnce));
}

TEST(Loopback, OrderedSumsDoNotDependOnTheWorld) {
  // Values of chunk c of four. A different order of additions changes the rounding of their sum.
  auto chunk = [](int c) {
    return std::vector<float>{1e8f / static_cast<float>(c + 1), 0.1f, -1e7f};
  };
  std::vector<float> before;
  for (int size : {1, 2, 4})
    expectNone(onRanks(size, [&](World &world) {
      std::vector<float> mine, sum(3);
      for (int c = 0; c < 4 / size; ++c)
        for (float value : chunk(world.rank() * (4 / size) + c))
          mine.push_back(value);
      world.run({.collective = Collective::OrderedSum,
                 .from = mine.data(),
                 .to = sum.data(),
                 .share = 3,
                 .chunks = 4});
      if (size == 1)
        before = sum;
      EXPECT_EQ(sum, before);
    }));
  for (const std::string &error : onRanks(3, [](World &world) {
         float value = 0;
         world.run({.collective = Collective::OrderedSum,
                    .from = &value,
                    .to = &value,
                    .share = 1,
                    .chunks = 4});
       }))
    EXPECT_THAT(error, HasSubstr("4 chunks and 3 ranks"));
}

TEST(Loopback, WhatIsNotTheSameOnAllRanksIsNamed) {
  auto errors = onRanks(4, [](World &world) {
    std::vector<std::string> lines{"hash 1", "all_reduce f32 10", "all_reduce f32 20"};
    if (world.rank() == 2)
      lines[1] = "all_reduce f32 11";
    if (world.rank() == 3)
      lines.pop_back();
    world.agree("program", lines);
  });
  for (const std::string &error : errors)
    EXPECT_THAT(error, HasSubstr("same program; ranks [2, 3] have a different one than rank 0: "
                                 "'all_reduce f32 11'; rank 0 has 'all_reduce f32 10'"));
  expectNone(onRanks(3, [](World &world) {
    std::vector<std::string> lines{"the same"};
    world.agree("program", lines);
  }));
  for (const std::string &error : onRanks(2, [](World &world) {
         std::vector<std::string> lines{"batch " + std::to_string(world.rank())};
         world.agree("step", lines, "give all one batch");
       }))
    EXPECT_THAT(error, HasSubstr("'batch 1'; rank 0 has 'batch 0'; give all one batch"));
}

TEST(Loopback, OneThatAbortsEndsAll) {
  auto errors = onRanks(3, [](World &world) {
    world.setStep(17);
    if (world.rank() == 1)
      world.abort("out of memory");
    world.barrier();
  });
  EXPECT_EQ(errors[1], "out of memory");
  for (int rank : {0, 2})
    EXPECT_THAT(errors[rank], HasSubstr("rank 1 of 3, step 17: out of memory"));
}

TEST(Loopback, OneThatLeavesEndsThoseThatWait) {
  auto errors = onRanks(3, [](World &world) {
    world.barrier();
    if (world.rank() != 1)
      world.barrier();
  });
  for (int rank : {0, 2})
    EXPECT_THAT(errors[rank], HasSubstr("rank 1 left in step 0 after 1 collectives"));
}

TEST(Loopback, WhoHasLeftSharesNothing) {
  auto errors = onRanks(2, [](World &world) {
    world.barrier();
    world.leave();
    world.leave();
    world.barrier();
  });
  for (const std::string &error : errors)
    EXPECT_THAT(error, HasSubstr("this process has left the group of processes"));
}

TEST(Loopback, DifferentCollectivesAreAnError) {
  auto errors = onRanks(2, [](World &world) {
    std::vector<float> values(4);
    world.run({.from = values.data(),
               .to = values.data(),
               .share = static_cast<uint64_t>(2 + world.rank())});
  });
  for (const std::string &error : errors)
    EXPECT_THAT(error, HasSubstr("started different collectives at position 1"));
}

TEST(Loopback, TheLinkIsTheSameOnAllRanks) {
  std::vector<WorldLink> links(3);
  expectNone(onRanks(3, [&](World &world) { links[world.rank()] = world.link(); }));
  for (const WorldLink &link : links) {
    EXPECT_GT(link.latency, 0);
    EXPECT_EQ(link.latency, links[0].latency);
    EXPECT_EQ(link.secondsPerByte, links[0].secondsPerByte);
  }
}

TEST(Waiting, TakesTheTimeThatItIsGiven) {
  auto world = createSimulatedWorld({.size = 4, .latencySeconds = 1e-3, .bytesPerSecond = 1e8});
  EXPECT_EQ(world->size(), 4);
  std::vector<float> values(250'000, 1.0f); // 1 MB takes 10 ms
  auto from = std::chrono::steady_clock::now();
  Ticket first = world->start({.from = values.data(), .to = values.data(), .share = values.size()});
  Ticket second = world->start({.from = values.data(), .to = values.data(), .share = 1});
  world->wait(second);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  EXPECT_TRUE(world->done(first));
  EXPECT_GE(took.count(), 0.012);
  EXPECT_EQ(values[0], 1.0f);
}

TEST(World, OfOneDoesAllAtOnce) {
  World world;
  std::vector<float> from{1, 2, 3}, to(3);
  EXPECT_TRUE(world.done(world.start({.from = from.data(), .to = to.data(), .share = 3})));
  EXPECT_EQ(to, from);
  EXPECT_THROW(world.abort("enough"), Error);
}

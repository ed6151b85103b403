//===- GpuCollectivesTest.cpp - collectives of data on emulated GPUs ----------===//
#include "Sample.h"

#include "dlc/Error.h"
#include "runtime/collective/World.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <thread>

using namespace dlc::test;
namespace runtime = dlc::runtime;
using runtime::World;
using testing::HasSubstr;

namespace {

using Floats = std::vector<float>;

/// Returns a program that computes y[to] as the collective of x[from], both on cuda:0, on a stream
/// other than the one that copies.
Program programOf(json desc, int64_t from, int64_t to) {
  Program program;
  desc["dtype"] = "f32";
  desc["share"] = std::min(from, to);
  auto on = [](json thing) {
    thing["device"] = "cuda:0";
    return thing;
  };
  auto bytes = [](int64_t count) { return static_cast<uint64_t>(4 * count); };
  program.manifest = {
      {"format", 1},
      {"streams", {"cuda:0", "cuda:0"}},
      {"arena", {{"cuda:0", bytes(from + to)}}},
      {"inputs", {tensor("x", "f32", {from})}},
      {"outputs", {tensor("y", "f32", {to})}},
      {"buffers",
       {buffer("input", 0, bytes(from)), on(buffer("arena", 0, bytes(from))),
        on(buffer("arena", 0, bytes(to), bytes(from))), buffer("output", 0, bytes(to))}},
      {"commands",
       {{{"op", "copy"}, {"from", 0}, {"to", 1}, {"bytes", bytes(from)}, {"stream", 0}},
        {{"op", "record"}, {"event", 0}, {"stream", 0}},
        {{"op", "wait"}, {"event", 0}, {"stream", 1}},
        {{"op", "library"},
         {"name", "shared"},
         {"library", "collective"},
         {"desc", desc},
         {"buffers", {1, 2}},
         {"writes", {1}},
         {"stream", 1}},
        {{"op", "record"}, {"event", 1}, {"stream", 1}},
        {{"op", "wait"}, {"event", 1}, {"stream", 0}},
        {{"op", "copy"}, {"from", 2}, {"to", 3}, {"bytes", bytes(to)}, {"stream", 0}}}}};
  return program;
}

/// Runs the program with x = r * 10, r * 10 + 1, ... on rank r and returns y.
Floats resultIn(World *world, const Program &program, int64_t from, int64_t to) {
  runtime::SessionOptions options;
  options.world = world;
  Session session(share(program), options);
  Floats x, y(size_t(to), -1);
  for (int64_t i = 0; i < from; ++i)
    x.push_back(float(world->rank()) * 10 + float(i));
  for (int round = 0; round < 3; ++round)
    runOnce(session, {x.data()}, {y.data()});
  return y;
}

/// Runs the body on all ranks. Returns the error of each rank, or "". An error ends the world.
std::vector<std::string> onRanks(int ranks, const std::function<void(World &)> &body) {
  auto worlds = runtime::createLoopbackWorlds(ranks);
  std::vector<std::string> errors(worlds.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < errors.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      try {
        body(*world);
      } catch (const dlc::Error &error) {
        errors[rank] = error.what();
        EXPECT_THROW(world->abort(error.what()), dlc::Error);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

std::vector<Floats> resultsOf(int ranks, const json &desc, int64_t from, int64_t to) {
  const Program program = programOf(desc, from, to);
  std::vector<Floats> results(static_cast<size_t>(ranks));
  for (const std::string &error : onRanks(ranks, [&](World &world) {
         results[size_t(world.rank())] = resultIn(&world, program, from, to);
       }))
    EXPECT_EQ(error, "");
  return results;
}

json reduce(const char *how) { return {{"kind", "all_reduce"}, {"reduction", how}}; }

TEST(GpuCollectives, GiveWhatTheirMeaningSays) {
  using All = std::vector<Floats>;
  const Floats sum{10, 12, 14, 16}, mean{5, 6, 7, 8}, max{10, 11, 12, 13}, zeros(4);
  EXPECT_EQ(resultsOf(2, reduce("sum"), 4, 4), (All{sum, sum}));
  EXPECT_EQ(resultsOf(2, reduce("mean"), 4, 4), (All{mean, mean}));
  EXPECT_EQ(resultsOf(2, reduce("max"), 4, 4), (All{max, max}));
  json rooted = reduce("sum");
  rooted["root"] = 1;
  EXPECT_EQ(resultsOf(2, rooted, 4, 4), (All{zeros, sum}));
  EXPECT_EQ(resultsOf(2, {{"kind", "broadcast"}, {"root", 1}}, 4, 4), (All{max, max}));
  const Floats rows{0, 1, 10, 11};
  EXPECT_EQ(resultsOf(2, {{"kind", "all_gather"}, {"size", 2}}, 2, 4), (All{rows, rows}));
  EXPECT_EQ(resultsOf(2, {{"kind", "reduce_scatter"}, {"reduction", "mean"}, {"size", 2}}, 4, 2),
            (All{{5, 6}, {7, 8}}));
}

TEST(GpuCollectives, AreCopiesWithoutAWorld) {
  World alone;
  EXPECT_EQ(resultIn(&alone, programOf(reduce("mean"), 4, 4), 4, 4), (Floats{0, 1, 2, 3}));
  // A world of one rank uses the same code path as larger ones.
  EXPECT_EQ(resultsOf(1, reduce("sum"), 4, 4), (std::vector<Floats>{{0, 1, 2, 3}}));
}

TEST(GpuCollectives, EachRankHasItsOwnDevice) {
  onRanks(2, [](World &world) {
    runtime::SessionOptions options;
    options.world = &world;
    Session session(share(programOf(reduce("sum"), 4, 4)), options);
    for (const runtime::CommandInfo &command : session.commands()) {
      EXPECT_EQ(command.device, "cuda:" + std::to_string(world.rank()));
      if (command.op == "library")
        EXPECT_EQ(command.implementation, "collective:all_reduce/cuda");
    }
  });
  for (const std::string &error :
       onRanks(3, [](World &world) { resultIn(&world, programOf(reduce("sum"), 4, 4), 4, 4); }))
    EXPECT_THAT(error, HasSubstr("3 ranks on one machine need 3; found: 2; start 2"));
}

TEST(GpuCollectives, ARankThatFailsEndsThoseThatWaitInStreams) {
  std::vector<std::string> errors = onRanks(2, [](World &world) {
    world.setStep(3);
    runtime::SessionOptions options;
    options.world = &world;
    Session session(share(programOf(reduce("sum"), 4, 4)), options);
    Floats x(4), y(4);
    runOnce(session, {x.data()}, {y.data()});
    if (world.rank() == 1)
      throw dlc::Error("no memory is left");
    runOnce(session, {x.data()}, {y.data()});
    ADD_FAILURE() << "nobody came, and it went on";
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1 of 2, step 3: no memory is left"));
  EXPECT_EQ(errors[1], "no memory is left");
}

TEST(GpuCollectives, ARankThatHangsIsNamedByThoseThatWaitInStreams) {
  setenv("DLC_WORLD_TIMEOUT", "1", 1);
  std::vector<std::string> errors = onRanks(2, [](World &world) {
    runtime::SessionOptions options;
    options.world = &world;
    Session session(share(programOf(reduce("sum"), 4, 4)), options);
    Floats x(4), y(4);
    for (int step = 1; step <= 2; ++step) {
      world.setStep(step);
      if (step == 2 && world.rank() == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(3000));
      runOnce(session, {x.data()}, {y.data()});
    }
  });
  unsetenv("DLC_WORLD_TIMEOUT");
  const char *named = "rank 0 of 2, step 2: rank 1 hangs in step 2";
  EXPECT_THAT(errors[0], HasSubstr(named));
  // The returning rank may see the end of the group before it receives the reason.
  EXPECT_THAT(errors[1], testing::AnyOf(HasSubstr(named), HasSubstr("see its message")));
}

TEST(GpuCollectives, RanksThatDoDifferentThingsFail) {
  std::vector<std::string> errors = onRanks(2, [](World &world) {
    resultIn(&world, programOf(reduce(world.rank() == 0 ? "sum" : "max"), 4, 4), 4, 4);
  });
  EXPECT_THAT(errors, testing::Contains(HasSubstr("do different things in collective 0")));
  for (const std::string &error : errors)
    EXPECT_NE(error, "");
}

} // namespace

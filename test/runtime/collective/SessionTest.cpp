//===- SessionTest.cpp - programs with collectives, run by sessions on several ranks ===//
#include "runtime/session/Session.h"
#include "dlc/Error.h"
#include "runtime/program/Checker.h"
#include "runtime/program/arrays/Safetensors.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/WorldState.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace dlc::runtime;
using nlohmann::json;
using testing::HasSubstr;

namespace {

using Floats = std::vector<float>;

json tensor(const char *name, int64_t size) {
  return {{"name", name}, {"dtype", "f32"}, {"shape", {size}}};
}

/// Returns a program that computes y[to] as the collective of x[from], on a second stream.
std::shared_ptr<const Program> programOf(json desc, int64_t from, int64_t to) {
  Program program;
  desc["dtype"] = "f32";
  desc["share"] = std::min(from, to);
  program.manifest = {
      {"format", 1},
      {"streams", {"cpu", "cpu"}},
      {"arena", {{"cpu", 4 * to}}},
      {"inputs", {tensor("x", from)}},
      {"outputs", {tensor("y", to)}},
      {"buffers",
       {{{"space", "input"}, {"index", 0}, {"offset", 0}, {"bytes", 4 * from}},
        {{"space", "arena"}, {"offset", 0}, {"bytes", 4 * to}},
        {{"space", "output"}, {"index", 0}, {"offset", 0}, {"bytes", 4 * to}}}},
      {"commands",
       {{{"op", "library"},
         {"library", "collective"},
         {"desc", desc},
         {"buffers", {0, 1}},
         {"writes", {1}},
         {"stream", 1}},
        {{"op", "record"}, {"event", 0}, {"stream", 1}},
        {{"op", "wait"}, {"event", 0}, {"stream", 0}},
        {{"op", "copy"}, {"from", 1}, {"to", 2}, {"bytes", 4 * to}, {"stream", 0}}}}};
  return std::make_shared<const Program>(std::move(program));
}

/// Returns a program that computes y, this rank's share of a (3 elements) and b (1 element). Both
/// are copies of x.
std::shared_ptr<const Program> ownRowsProgram(json desc = {{"bytes", {12, 4}}, {"size", 2}}) {
  Program program;
  program.manifest = {{"format", 1},
                      {"inputs", {tensor("x", 4)}},
                      {"outputs", {tensor("y", 2)}},
                      {"buffers",
                       {{{"space", "input"}, {"index", 0}, {"offset", 0}, {"bytes", 12}},
                        {{"space", "input"}, {"index", 0}, {"offset", 12}, {"bytes", 4}},
                        {{"space", "output"}, {"index", 0}, {"offset", 0}, {"bytes", 8}}}},
                      {"commands",
                       {{{"op", "library"},
                         {"library", "own_rows"},
                         {"desc", std::move(desc)},
                         {"buffers", {0, 1, 2}},
                         {"writes", {2}}}}}};
  return std::make_shared<const Program>(std::move(program));
}

Floats resultIn(World *world, const std::shared_ptr<const Program> &program, const Floats &x) {
  SessionOptions options;
  options.world = world;
  Session session(program, options);
  Floats y(session.plan().outputs[0].bytes / 4, -1);
  const void *from = x.data();
  void *to = y.data();
  for (int round = 0; round < 3; ++round)
    session.run({&from, 1}, {&to, 1});
  return y;
}

/// Runs the program on all ranks, where rank r has x = r * 10, r * 10 + 1, ... Returns the result
/// of each rank.
std::vector<Floats> resultsOf(int ranks, const json &desc, int64_t from, int64_t to) {
  auto program = programOf(desc, from, to);
  auto worlds = createLoopbackWorlds(ranks);
  std::vector<Floats> results(worlds.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < results.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      Floats x;
      for (int64_t i = 0; i < from; ++i)
        x.push_back(float(rank) * 10 + float(i));
      results[rank] = resultIn(world.get(), program, x);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const dlc::Error &error) {
    return error.what();
  }
  return "";
}

TEST(Collectives, GiveWhatTheirMeaningSays) {
  using All = std::vector<Floats>;
  const Floats sum{30, 33, 36, 39}, mean{10, 11, 12, 13}, max{20, 21, 22, 23}, zeros(4);
  auto reduce = [](const char *how) { return json{{"kind", "all_reduce"}, {"reduction", how}}; };
  EXPECT_EQ(resultsOf(3, reduce("sum"), 4, 4), (All{sum, sum, sum}));
  EXPECT_EQ(resultsOf(3, reduce("mean"), 4, 4), (All{mean, mean, mean}));
  EXPECT_EQ(resultsOf(3, reduce("max"), 4, 4), (All{max, max, max}));
  json rooted = reduce("sum");
  rooted["root"] = 1;
  EXPECT_EQ(resultsOf(3, rooted, 4, 4), (All{zeros, sum, zeros}));
  EXPECT_EQ(resultsOf(3, {{"kind", "broadcast"}, {"root", 2}}, 4, 4), (All{max, max, max}));
  const Floats rows{0, 1, 10, 11};
  EXPECT_EQ(resultsOf(2, {{"kind", "all_gather"}, {"size", 2}}, 2, 4), (All{rows, rows}));
  EXPECT_EQ(resultsOf(2, {{"kind", "reduce_scatter"}, {"reduction", "sum"}, {"size", 2}}, 4, 2),
            (All{{10, 12}, {14, 16}}));
  EXPECT_EQ(resultsOf(2, {{"kind", "reduce_scatter"}, {"reduction", "mean"}, {"size", 2}}, 4, 2),
            (All{{5, 6}, {7, 8}}));
}

TEST(Collectives, AreCopiesInAWorldOfOne) {
  for (const char *how : {"sum", "mean", "max"})
    EXPECT_EQ(resultsOf(1, {{"kind", "all_reduce"}, {"reduction", how}}, 4, 4),
              (std::vector<Floats>{{0, 1, 2, 3}}));
}

TEST(Collectives, RefuseWhatCannotBe) {
  World alone;
  auto refused = [&](const json &desc, int64_t from, int64_t to) {
    return errorOf([&] { resultIn(&alone, programOf(desc, from, to), Floats(size_t(from))); });
  };
  EXPECT_THAT(refused({{"kind", "gossip"}}, 4, 4),
              HasSubstr("'kind' must be all_reduce, all_gather, reduce_scatter or broadcast; "
                        "found: \"gossip\""));
  EXPECT_THAT(refused({{"kind", "all_reduce"}}, 4, 4),
              HasSubstr("the reduction '' of f32 is not supported"));
  EXPECT_THAT(refused({{"kind", "all_reduce"}, {"reduction", "prod"}}, 4, 4),
              HasSubstr("the reduction 'prod' of f32 is not supported"));
  EXPECT_THAT(refused({{"kind", "all_gather"}, {"size", 2}}, 2, 4),
              HasSubstr("required: 2 ranks, for which the program was compiled; found: 1"));
  EXPECT_THAT(refused({{"kind", "broadcast"}, {"root", 1}}, 4, 4),
              HasSubstr("required: a root from 0 to 0; found: 1"));
}

/// Runs the body on the given number of ranks and reports exceptions.
void onRanks(int ranks, const std::function<void(World &)> &body) {
  auto worlds = createLoopbackWorlds(ranks);
  std::vector<std::string> errors(worlds.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < worlds.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      errors[rank] = errorOf([&] { body(*world); });
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

/// Returns a program with a state of shape [2, 2]. Each of two ranks has one of its columns, of
/// shape [2, 1], and returns it as y.
std::shared_ptr<const Program> programWithPart() {
  static const Floats whole{1, 2, 3, 4};
  Program program;
  program.constants = {copyToOwnedSpan(whole.data(), 16)};
  program.manifest = {{"format", 1},
                      {"inputs", json::array()},
                      {"outputs", {tensor("y", 2)}},
                      {"state",
                       {{{"name", "w"},
                         {"dtype", "f32"},
                         {"shape", {2, 1}},
                         {"init", 0},
                         {"part", {{"dimension", 1}, {"ranks", 2}, {"blocks", 1}}}}}},
                      {"constants", {{{"bytes", 16}}}},
                      {"buffers",
                       {{{"space", "state"}, {"index", 0}, {"offset", 0}, {"bytes", 8}},
                        {{"space", "output"}, {"index", 0}, {"offset", 0}, {"bytes", 8}}}},
                      {"commands", {{{"op", "copy"}, {"from", 0}, {"to", 1}, {"bytes", 8}}}}};
  return std::make_shared<const Program>(std::move(program));
}

TEST(Ranks, HavePartsOfAStateAndSaveTheWhole) {
  auto program = programWithPart();
  const std::string path = testing::TempDir() + "parts.safetensors";
  onRanks(2, [&](World &world) {
    SessionOptions options;
    options.world = &world;
    Session session(program, options);
    auto valueNow = [&] {
      Floats y(2);
      void *to = y.data();
      session.run({}, {&to, 1});
      return y;
    };
    const Floats mine = world.rank() == 0 ? Floats{1, 3} : Floats{2, 4};
    EXPECT_EQ(valueNow(), mine);
    Floats changed{mine[0] + 10, mine[1] + 10};
    session.states().set(0, changed.data());
    session.states().save(path);
    world.barrier();
    session.states().reset();
    EXPECT_EQ(valueNow(), mine);
    session.states().load(path, false, false);
    EXPECT_EQ(valueNow(), changed);
    Program again = session.states().started();
    Floats whole(4);
    std::memcpy(whole.data(), again.constants.back().data, 16);
    EXPECT_EQ(whole, (Floats{11, 12, 13, 14}));
  });
  auto file = readSafetensors(path);
  EXPECT_EQ(file.tensors.at("w").shape, (std::vector<int64_t>{2, 2}));
  World alone;
  SessionOptions options;
  options.world = &alone;
  EXPECT_THAT(
      errorOf([&] { Session session(program, options); }),
      HasSubstr(
          "splits 'w' over ranks; required: 2 ranks; found: 1; start that many (mpirun -n 2)"));
}

/// Returns a program with y = s, where the state s is the collective of x, computed on a second
/// stream.
std::shared_ptr<const Program> programWithState() {
  Program program = *programOf({{"kind", "all_reduce"}, {"reduction", "sum"}}, 4, 4);
  json &m = program.manifest;
  m["state"] = {tensor("s", 4)};
  for (bool isNew : {false, true})
    m["buffers"].push_back(
        {{"space", "state"}, {"index", 0}, {"offset", 0}, {"bytes", 16}, {"new", isNew}});
  json &last = m["commands"].back();
  last["from"] = 3;
  m["commands"].push_back({{"op", "copy"}, {"from", 1}, {"to", 4}, {"bytes", 16}, {"stream", 0}});
  return std::make_shared<const Program>(std::move(program));
}

TEST(Ranks, BeginWithTheStateOfTheFirst) {
  auto program = programWithState();
  onRanks(2, [&](World &world) {
    SessionOptions options;
    options.world = &world;
    Session session(program, options);
    EXPECT_EQ(session.world(), &world);
    // In programs with several streams a state may be in the caller's memory, too.
    Floats mine(4, float(1 + world.rank())), y(4);
    session.bindState(0, mine.data(), 16);
    broadcastStates(world, session.states(), session.plan());
    EXPECT_EQ(mine, Floats(4, 1));
    const Floats x(4, float(10 + world.rank()));
    const void *from = x.data();
    void *to = y.data();
    session.run({&from, 1}, {&to, 1});
    EXPECT_EQ(y, Floats(4, 1));
    EXPECT_EQ(mine, Floats(4, 21));
    EXPECT_THAT(describeInterface(session.plan()),
                testing::ElementsAre("input x f32 [4]", "output y f32 [4]", "state s f32 [4]",
                                     HasSubstr("all_reduce")));
  });
}

/// A collective, followed by a loop with more iterations than permitted.
TEST(Ranks, EndWhereOneFailsInARun) {
  Program program = *programOf({{"kind", "all_reduce"}, {"reduction", "sum"}}, 4, 4);
  json &m = program.manifest;
  m["inputs"].push_back({{"name", "trips"}, {"dtype", "i64"}, {"shape", json::array()}});
  m["buffers"].push_back({{"space", "input"}, {"index", 1}, {"offset", 0}, {"bytes", 8}});
  json loop = {{"op", "loop"}, {"trip", 3}, {"max", 1}, {"overflow", "error"}, {"stream", 0}};
  loop["body"] = {{{"op", "copy"}, {"from", 0}, {"to", 2}, {"bytes", 16}}};
  m["commands"].insert(m["commands"].begin(), loop);
  auto failing = std::make_shared<const Program>(std::move(program));
  auto worlds = createLoopbackWorlds(2);
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      errors[rank] = errorOf([&] {
        SessionOptions options;
        options.world = world.get();
        Session session(failing, options);
        Floats x(4), y(4);
        int64_t trips = rank == 1 ? 2 : 1;
        const void *from[] = {x.data(), &trips};
        void *to = y.data();
        session.run(from, {&to, 1});
        world->barrier();
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(errors[1], HasSubstr("the loop exceeds its maximum of 1 iterations"));
  EXPECT_THAT(errors[0], HasSubstr("rank 1 of 2, step 0: "));
}

TEST(Ranks, CannotHavePartsThatDoNotFit) {
  for (const char *member : {"dimension", "ranks", "blocks"}) {
    Program program = *programWithPart();
    program.manifest["state"][0]["part"][member] = member == std::string("ranks") ? 0 : 2;
    EXPECT_THAT(errorOf([&] { checkProgram(program); }), HasSubstr("cannot be split over"))
        << member;
  }
}

TEST(Collectives, AreListedInTheirOrder) {
  auto program = programOf({{"kind", "broadcast"}, {"root", 0}}, 4, 4);
  std::vector<std::string> lines = describeCollectives(checkProgram(*program));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("\"kind\":\"broadcast\""));
}

TEST(Collectives, OwnRowsAreEachRanksShare) {
  const Plan plan = checkProgram(*ownRowsProgram());
  EXPECT_TRUE(describeCollectives(plan).empty());
  EXPECT_EQ(findRankCount(plan), 2);
  const json inAnyWorld{{"bytes", {12, 4}}, {"share", 8}};
  for (const auto &program : {ownRowsProgram(), ownRowsProgram(inAnyWorld)}) {
    auto worlds = createLoopbackWorlds(2);
    std::vector<Floats> results(2);
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        std::unique_ptr<World> world = std::move(worlds[rank]);
        results[rank] = resultIn(world.get(), program, {1, 2, 3, 4});
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(results[0], (Floats{1, 2}));
    EXPECT_EQ(results[1], (Floats{3, 4}));
  }
  World alone;
  EXPECT_EQ(findRankCount(checkProgram(*ownRowsProgram(inAnyWorld))), 0);
  EXPECT_EQ(resultIn(&alone, ownRowsProgram(inAnyWorld), {1, 2, 3, 4}), (Floats{1, 2}));
  EXPECT_THAT(errorOf([&] {
                resultIn(&alone, ownRowsProgram({{"bytes", {12, 4}}, {"share", 32}}), {1, 2, 3, 4});
              }),
              HasSubstr("required: at most 0 ranks; found: 1; start fewer ranks"));
  EXPECT_THAT(errorOf([&] {
                resultIn(&alone, ownRowsProgram(), {1, 2, 3, 4});
              }),
              HasSubstr("required: 2 ranks, for which the program was compiled; found: 1; start 2 "
                        "ranks, or compile it "
                        "for this world (--world 1)"));
}

} // namespace

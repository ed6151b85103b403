//===- SessionTest.cpp - sessions, which execute programs ---------------------===//
#include "Sample.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/program/Checker.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

using namespace dlc;
using namespace dlc::test;

namespace {

json scalarBuffer(const char *space, int index, uint64_t offset) {
  return buffer(space, index, 8, offset);
}

/// Returns a program with a loop. Its counters count (i64) and go (bool) are in the output, so that
/// the test can read them.
Program countingLoop(json loop) {
  Program program = emptyProgram();
  json &m = program.manifest;
  m["inputs"] = {tensor("limit", "i64", {}), tensor("go", "bool", {})};
  m["outputs"] = {tensor("value", "i64", {}), tensor("index", "i64", {}),
                  tensor("done", "i64", {})};
  m["arena"]["cpu"] = 64;
  m["buffers"] = {scalarBuffer("input", 0, 0),  buffer("input", 1, 1),
                  scalarBuffer("output", 0, 0), scalarBuffer("output", 1, 0),
                  scalarBuffer("output", 2, 0), buffer("arena", 0, 1)};
  loop["op"] = "loop";
  loop["index"] = 3;
  loop["count"] = 4;
  loop["body"] = {
      {{"op", "launch"}, {"kernel", kernelIndex("count")}, {"buffers", {2, 5, 0}}, {"extent", 1}}};
  m["commands"] = {{{"op", "fill"}, {"to", 2}, {"byte", 0}},
                   {{"op", "fill"}, {"to", 3}, {"byte", 0}},
                   {{"op", "copy"}, {"from", 1}, {"to", 5}, {"bytes", 1}},
                   loop};
  return program;
}

struct Counted {
  int64_t value, index, done;
  bool operator==(const Counted &) const = default;
};

Counted runLoop(const Program &program, int64_t limit, bool go) {
  Session session(share(program));
  uint8_t flag = go;
  Counted result{-1, -1, -1};
  runOnce(session, {&limit, &flag}, {&result.value, &result.index, &result.done});
  return result;
}

std::ostream &operator<<(std::ostream &out, const Counted &c) {
  return out << c.value << " " << c.index << " " << c.done;
}

} // namespace

TEST(Session, LargeExtentInParallel) {
  const int64_t n = 1 << 20;
  for (int threads : {1, 2, 3}) {
    Session session(share(affineProgram(n)), {threads});
    EXPECT_EQ(session.threads(), threads);
    std::vector<float> x(n), y(n);
    for (int64_t i = 0; i < n; ++i)
      x[i] = static_cast<float>(i % 1000);
    runOnce(session, {x.data()}, {y.data()});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], 2 * x[i] + 1.5f) << i;
    EXPECT_EQ(session.memory().arenaBytes, uint64_t(n) * 4);
    EXPECT_EQ(session.memory().constantBytes, uint64_t(n) * 4);
  }
}

TEST(Session, UnalignedInputsAndNewAddresses) {
  Session session(share(affineProgram(100)));
  std::vector<float> memory(300);
  for (int shift = 0; shift < 5; ++shift) {
    std::vector<float> y(100 + shift);
    std::fill(memory.begin(), memory.end(), static_cast<float>(shift));
    runOnce(session, {memory.data() + shift}, {y.data() + shift});
    EXPECT_EQ(y[99 + shift], 2.0f * static_cast<float>(shift) + 1.5f);
  }
}

TEST(Session, ContextAndScratch) {
  const int64_t n = 10000;
  Program program = emptyProgram();
  json &m = program.manifest;
  m["inputs"] = {tensor("x", "f32", {n})};
  m["outputs"] = {tensor("y", "f32", {n})};
  m["buffers"] = {buffer("input", 0, n * 4), buffer("output", 0, n * 4)};
  m["commands"] = {{{"op", "launch"},
                    {"kernel", kernelIndex("exponential")},
                    {"buffers", {0, 1}},
                    {"extent", n},
                    {"grain", 100},
                    {"scratch", 8}}};
  Session session(share(program), {2});
  EXPECT_EQ(session.memory().scratchBytes, 128u);
  std::vector<float> x(n), y(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i) / 1000 - 5;
  runOnce(session, {x.data()}, {y.data()});
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(y[i], static_cast<float>(std::exp(static_cast<double>(x[i]))));
}

TEST(Session, Loops) {
  // By trip count, by condition, by both, by max, and no iteration at all.
  EXPECT_EQ(runLoop(countingLoop({{"trip", 0}}), 5, true), (Counted{5, 4, 5}));
  EXPECT_EQ(runLoop(countingLoop({{"cond", 5}}), 5, true), (Counted{5, 4, 5}));
  EXPECT_EQ(runLoop(countingLoop({{"cond", 5}}), 5, false), (Counted{0, 0, 0}));
  EXPECT_EQ(runLoop(countingLoop({{"max", 3}}), 100, true), (Counted{3, 2, 3}));
  EXPECT_EQ(runLoop(countingLoop({{"max", 3}, {"cond", 5}}), 100, true), (Counted{3, 2, 3}));
  EXPECT_EQ(runLoop(countingLoop({{"trip", 0}}), 0, true), (Counted{0, 0, 0}));
  EXPECT_EQ(runLoop(countingLoop({{"trip", 0}}), -4, true), (Counted{0, 0, 0}));
  std::string error = errorOf([] {
    runLoop(countingLoop({{"trip", 0}, {"max", 3}, {"overflow", "error"}}), 5, true);
  });
  EXPECT_NE(error.find("maximum of 3 iterations"), std::string::npos) << error;
}

/// Returns a program that computes y and z = exp(x) in two concurrent loops of 20 iterations.
Program concurrentLoops(int64_t n, const json &second = json::object()) {
  Program program = emptyProgram();
  json &m = program.manifest;
  m["inputs"] = {tensor("x", "f32", {n})};
  m["outputs"] = {tensor("y", "f32", {n}), tensor("z", "f32", {n})};
  m["buffers"] = {buffer("input", 0, n * 4), buffer("output", 0, n * 4),
                  buffer("output", 1, n * 4)};
  auto loop = [&](int result) {
    json launch = {{"op", "launch"}, {"kernel", kernelIndex("exponential")},
                   {"writes", {1}},  {"buffers", {0, result}},
                   {"extent", n},    {"grain", 100},
                   {"scratch", 8}};
    return json{{"op", "loop"}, {"max", 20}, {"body", json::array({launch})}};
  };
  json concurrent = loop(2);
  concurrent["concurrent"] = true;
  concurrent.update(second);
  m["commands"] = {loop(1), concurrent};
  return program;
}

TEST(Session, ConcurrentLoops) {
  const int64_t n = 1000;
  std::vector<float> x(n), y(n), z(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i) / 1000 - 5;
  for (int threads : {1, 2, 4}) {
    Session session(share(concurrentLoops(n)), {threads});
    // Each of the two loops has the scratch memory of one thread.
    EXPECT_EQ(session.memory().scratchBytes, threads == 1 ? 64u : 128u);
    for (int run = 0; run < 50; ++run) {
      std::fill(y.begin(), y.end(), 0.f), std::fill(z.begin(), z.end(), 0.f);
      runOnce(session, {x.data()}, {y.data(), z.data()});
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], static_cast<float>(std::exp(static_cast<double>(x[i]))));
        ASSERT_EQ(z[i], y[i]);
      }
    }
    session.setTrace(true);
    runOnce(session, {x.data()}, {y.data(), z.data()});
    // Two loops, and 20 commands of each body.
    EXPECT_EQ(session.takeTrace().size(), 42u);
  }
}

TEST(Session, AnErrorInAConcurrentLoop) {
  Session session(share(concurrentLoops(100, {{"trip", 0}, {"overflow", "error"}})), {2});
  // The first element of x is the trip count, 2^32: more than the maximum of 20.
  std::vector<float> x(100), y(100), z(100);
  const int64_t trip = int64_t(1) << 32;
  std::memcpy(x.data(), &trip, sizeof trip);
  std::string error = errorOf([&] { runOnce(session, {x.data()}, {y.data(), z.data()}); });
  EXPECT_NE(error.find("maximum of 20 iterations"), std::string::npos) << error;
  EXPECT_EQ(y[99], 1);
}

TEST(Session, LoopsThatCannotBeConcurrent) {
  auto checked = [](const Program &program) {
    return errorOf([&] { runtime::checkProgram(program); });
  };
  EXPECT_EQ(checked(concurrentLoops(100)), "");
  Program same = concurrentLoops(100);
  same.manifest["commands"][1]["body"][0]["buffers"] = {0, 1};
  EXPECT_NE(checked(same).find("concurrent loop commands[0] writes"), std::string::npos)
      << checked(same);
  Program first = concurrentLoops(100);
  first.manifest["commands"].erase(0);
  EXPECT_NE(checked(first).find("must follow another loop"), std::string::npos) << checked(first);
  Program inside = concurrentLoops(100);
  json body = inside.manifest["commands"];
  inside.manifest["commands"] = {{{"op", "loop"}, {"max", 1}, {"body", body}}};
  EXPECT_NE(checked(inside).find("not allowed inside"), std::string::npos) << checked(inside);
}

TEST(Session, BuffersThatMove) {
  // A loop of copies computes y[i] = x[3 - i]. One iteration too many is an error.
  for (int trips : {4, 5}) {
    Program program = emptyProgram();
    json &m = program.manifest;
    m["inputs"] = {tensor("x", "i32", {4})};
    m["outputs"] = {tensor("y", "i32", {4})};
    m["buffers"] = {buffer("input", 0, 4, 12), buffer("output", 0, 4)};
    m["buffers"][0]["step"] = -4;
    m["buffers"][1]["step"] = 4;
    json body = {{{"op", "copy"}, {"from", 0}, {"to", 1}, {"bytes", 4}}};
    m["commands"] = {{{"op", "loop"}, {"max", trips}, {"body", body}}};
    Session session(share(program));
    int32_t x[4] = {1, 2, 3, 4}, y[4] = {};
    std::string error = errorOf([&] { runOnce(session, {x}, {y}); });
    if (trips == 4) {
      EXPECT_EQ(error, "");
      EXPECT_EQ(y[0], 4);
      EXPECT_EQ(y[3], 1);
    } else {
      EXPECT_NE(error.find("at most 4 iterations"), std::string::npos) << error;
    }
  }
}

TEST(Session, BuffersMoveWithinWhatTheyStayIn) {
  Program program = emptyProgram();
  json &m = program.manifest;
  m["inputs"] = {tensor("x", "i32", {4})};
  m["outputs"] = {tensor("y", "i32", {4})};
  m["buffers"] = {buffer("input", 0, 4), buffer("output", 0, 4, 4)};
  m["buffers"][1]["step"] = 4;
  m["buffers"][1]["within"] = {4, 8};
  json body = {{{"op", "copy"}, {"from", 0}, {"to", 1}, {"bytes", 4}}};
  m["commands"] = {{{"op", "loop"}, {"max", 3}, {"body", body}}};
  int32_t x[4] = {1, 2, 3, 4}, y[4] = {};
  std::string error = errorOf([&] {
    Session session(share(program));
    runOnce(session, {x}, {y});
  });
  EXPECT_NE(error.find("at most 2 iterations"), std::string::npos) << error;
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], 0);
  for (json wrong : {json{8, 8}, json{4, 16}, json{4, 2}, json{4}}) {
    m["buffers"][1]["within"] = wrong;
    error = errorOf([&] { Session session(share(program)); });
    EXPECT_NE(error.find("that contain the buffer"), std::string::npos) << error;
  }
}

TEST(Session, If) {
  Program program = emptyProgram();
  json &m = program.manifest;
  m["inputs"] = {tensor("c", "bool", {})};
  m["outputs"] = {tensor("y", "u8", {2})};
  m["buffers"] = {buffer("input", 0, 1), buffer("output", 0, 1), buffer("output", 0, 1, 1)};
  auto fill = [](int to, int byte) { return json{{"op", "fill"}, {"to", to}, {"byte", byte}}; };
  m["commands"] = {
      {{"op", "if"}, {"cond", 0}, {"then", {fill(1, 7)}}, {"else", {fill(1, 9), fill(1, 8)}}},
      fill(2, 1)};
  Session session(share(program));
  for (uint8_t c : {1, 0}) {
    uint8_t y[2] = {};
    runOnce(session, {&c}, {y});
    EXPECT_EQ(y[0], c ? 7 : 8);
    EXPECT_EQ(y[1], 1);
  }
}

TEST(Session, FixedInput) {
  Program program = affineProgram(4);
  program.manifest["inputs"][0]["value"] = 0; // constant 0 has four elements of 0.5
  Session session(share(program));
  std::vector<float> x(4, 0.5f), y(4);
  runOnce(session, {x.data()}, {y.data()});
  EXPECT_EQ(y[0], 2.5f);
  x[2] = 1;
  std::string error = errorOf([&] { runOnce(session, {x.data()}, {y.data()}); });
  EXPECT_NE(error.find("input 'x' differs"), std::string::npos) << error;
}

TEST(Session, WrongArguments) {
  Session session(share(affineProgram(4)));
  std::vector<float> x(4), y(4);
  EXPECT_NE(errorOf([&] { runOnce(session, {}, {y.data()}); }).find("has 1 inputs; found: 0"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { runOnce(session, {x.data()}, {nullptr}); }), "");
  EXPECT_NE(errorOf([&] { runOnce(session, {nullptr}, {y.data()}); }), "");
}

TEST(Session, MissingCpuFeature) {
  Program program = affineProgram(4);
  program.manifest["target"]["features"] = {"sse2", "warp-drive"};
  std::string error = errorOf([&] { Session session(share(program)); });
  EXPECT_NE(error.find("warp-drive"), std::string::npos) << error;
}

TEST(Session, UnknownLibrary) {
  Program program = affineProgram(4);
  json &command = program.manifest["commands"][0];
  command["op"] = "library", command["library"] = "cubls", command["desc"] = json::object();
  std::string error = errorOf([&] { Session session(share(program)); });
  EXPECT_NE(error.find("unknown library 'cubls'; the libraries of a CPU are "), std::string::npos)
      << error;
}

TEST(Session, AbsurdArena) {
  Program program = affineProgram(4);
  program.manifest["arena"]["cpu"] = uint64_t(1) << 45;
  EXPECT_NE(errorOf([&] { Session session(share(program)); }).find("intermediate values"),
            std::string::npos);
}

TEST(Session, SeveralAtOnceAndOneShared) {
  const int64_t n = 5000;
  auto program = share(affineProgram(n));
  Session shared(program, {2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session own(program, {1 + t % 2});
      std::vector<float> x(n, static_cast<float>(t)), y(n);
      for (int round = 0; round < 50; ++round) {
        Session &session = round % 2 ? own : shared;
        std::fill(y.begin(), y.end(), 0.0f);
        runOnce(session, {x.data()}, {y.data()});
        for (float value : y)
          wrong += value != 2.0f * static_cast<float>(t) + 1.5f;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, Trace) {
  TemporaryFolder folder;
  Session session(share(affineProgram(1000)));
  std::vector<float> x(1000), y(1000);
  session.setTrace(true);
  runOnce(session, {x.data()}, {y.data()});
  runOnce(session, {x.data()}, {y.data()});
  session.writeTrace(folder / "trace.json");
  json trace = json::parse(std::ifstream(folder / "trace.json"));
  ASSERT_EQ(trace["traceEvents"].size(), 4u);
  EXPECT_EQ(trace["traceEvents"][0]["name"], "affine");
  EXPECT_EQ(trace["traceEvents"][0]["ph"], "X");
  EXPECT_EQ(trace["traceEvents"][0]["args"]["loc"], "model.py:3");
  EXPECT_EQ(trace["traceEvents"][0]["args"]["flops"], 2000.0);
  EXPECT_TRUE(session.takeTrace().empty());
  EXPECT_EQ(session.commands()[0].implementation, "affine");
}

/// Ten small commands. The bound is generous because tests run on busy machines. The measured time
/// is printed.
TEST(Session, OverheadOfSmallCommands) {
  Program program = affineProgram(16);
  json &m = program.manifest;
  json add = m["commands"][1];
  for (int i = 0; i < 8; ++i)
    m["commands"].push_back(add);
  Session session(share(program), {2});
  std::vector<float> x(16), y(16);
  const void *in[] = {x.data()};
  void *out[] = {y.data()};
  double best = 1e9;
  for (int round = 0; round < 200; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i)
      session.run(in, out);
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 100);
  }
  RecordProperty("microseconds", std::to_string(best));
  std::cout << "ten small commands: " << best << " us\n";
  EXPECT_LT(best, 5.0);
}

TEST(Features, HostListIsConsistent) {
  using runtime::Feature;
  const runtime::CpuFeatures &host = runtime::hostFeatures();
  EXPECT_TRUE(host.has(Feature::Sse2));
  for (size_t i = 0; i < runtime::kFeatureCount; ++i) {
    std::string_view name = getFeatureName(Feature(i));
    EXPECT_EQ(runtime::hostHasFeature(name), host.has(Feature(i))) << name;
    EXPECT_TRUE(runtime::isKnownFeature(name)) << name;
  }
  EXPECT_TRUE(runtime::enablesFeature("+fma,+avx2", Feature::Avx2));
  EXPECT_FALSE(runtime::enablesFeature("-avx2,+avx512f,+fma4", Feature::Avx2));
  EXPECT_FALSE(runtime::enablesFeature("+fma4", Feature::Fma));
  EXPECT_EQ(runtime::CpuFeatures::parse("+avx512f,-fma,+avx2,+unknown").mainNames(),
            (std::vector<std::string_view>{"avx2", "avx512f"}));
  EXPECT_TRUE(runtime::hostHasFeature("shstk")); // CPU feature that no program requires
  EXPECT_FALSE(runtime::isKnownFeature("warp-drive"));
  EXPECT_GE(runtime::hostThreads(), 1);
}

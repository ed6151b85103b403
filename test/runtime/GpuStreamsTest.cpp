//===- GpuStreamsTest.cpp - sessions on the emulated GPUs ---------------------===//
#include "Sample.h"

#include "runtime/device/Event.h"
#include "runtime/program/Checker.h"
#include "runtime/session/Binder.h"
#include "runtime/session/state/State.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <dlfcn.h>
#include <map>

using namespace dlc::test;
namespace runtime = dlc::runtime;
using testing::HasSubstr;

namespace {

constexpr int64_t kN = 1000;
constexpr uint64_t kBytes = kN * 4;
constexpr const char *kKernels[] = {"affine", "add", "below"};

json on(json thing, const std::string &device) {
  thing["device"] = device;
  return thing;
}

json copy(int from, int to, int stream, uint64_t bytes = kBytes) {
  return {{"op", "copy"}, {"name", "copy"}, {"from", from},
          {"to", to},     {"bytes", bytes}, {"stream", stream}};
}
json record(int event, int stream) {
  return {{"op", "record"}, {"event", event}, {"stream", stream}};
}
json wait(int event, int stream) { return {{"op", "wait"}, {"event", event}, {"stream", stream}}; }
json launch(int kernel, std::vector<int> buffers, int stream) {
  return {{"op", "launch"},
          {"name", kKernels[kernel]},
          {"kernel", kernel},
          {"buffers", buffers},
          {"writes", {buffers.size() - 1}},
          {"grid", {8, 1, 1}},
          {"block", {128, 1, 1}},
          {"stream", stream}};
}

Program withKernels() {
  Program program;
  std::vector<uint8_t> image = readFile(DLC_GPU_IMAGE);
  program.manifest = {{"format", 1},
                      {"name", "sample"},
                      {"constants", {{{"bytes", image.size()}}}},
                      {"modules", {{{"arch", "sm_90"}, {"image", 0}}}}};
  program.constants = {runtime::copyToOwnedSpan(image.data(), image.size())};
  for (const char *kernel : kKernels)
    program.manifest["kernels"].push_back({{"name", kernel}, {"module", 0}, {"function", kernel}});
  return program;
}

/// Program y = (2 x + 1) + (2 (2 x + 1) + 1). x is copied to cuda:0, its result to cuda:1 and back.
Program twoGpus() {
  Program program = withKernels();
  json &m = program.manifest;
  m["arena"] = {{"cuda:0", 4 * kBytes}, {"cuda:1", 2 * kBytes}};
  m["streams"] = {"cuda:0", "cuda:0", "cuda:1", "cuda:1", "cuda:0", "cuda:0"};
  m["inputs"] = {tensor("x", "f32", {kN})};
  m["outputs"] = {tensor("y", "f32", {kN})};
  auto arena = [](const char *device, uint64_t at) {
    return on(buffer("arena", 0, kBytes, at * kBytes), device);
  };
  m["buffers"] = {buffer("input", 0, kBytes), arena("cuda:0", 0),         arena("cuda:0", 1),
                  arena("cuda:1", 0),         arena("cuda:1", 1),         arena("cuda:0", 2),
                  arena("cuda:0", 3),         buffer("output", 0, kBytes)};
  m["commands"] = {copy(0, 1, 0), record(0, 0),         wait(0, 1),    launch(0, {1, 2}, 1),
                   record(1, 1),  wait(1, 2),           copy(2, 3, 2), record(2, 2),
                   wait(2, 3),    launch(0, {3, 4}, 3), record(3, 3),  wait(3, 4),
                   copy(4, 5, 4), record(4, 4),         wait(4, 1),    launch(1, {2, 5, 6}, 1),
                   record(5, 1),  wait(5, 5),           copy(6, 7, 5)};
  return program;
}

std::vector<float> results(Session &session, float x) {
  std::vector<float> from(kN, x), to(kN, -1);
  runOnce(session, {from.data()}, {to.data()});
  return to;
}

TEST(GpuStreams, TwoGpusAndTheHost) {
  ASSERT_EQ(runtime::deviceCount("cuda"), 2);
  Session session(share(twoGpus()));
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(results(session, float(round)), std::vector<float>(kN, 6 * float(round) + 4));
}

TEST(GpuStreams, EachWaitAndCopyIsNeeded) {
  Program whole = twoGpus();
  for (size_t i = 0; i < whole.manifest["commands"].size(); ++i) {
    std::string op = whole.manifest["commands"][i]["op"];
    Program program = twoGpus();
    program.manifest["commands"].erase(i);
    if (op == "wait" || op == "record") {
      EXPECT_NE(errorOf([&] { runtime::checkProgram(program); }), "") << i;
    } else {
      Session session(share(program));
      EXPECT_NE(results(session, 1), std::vector<float>(kN, 10)) << i;
    }
  }
}

TEST(GpuStreams, StateAndArgumentsOnTheDevice) {
  Program program = withKernels();
  json &m = program.manifest;
  m["streams"] = {"cuda:1"};
  m["inputs"] = {on(tensor("x", "f32", {kN}), "cuda:1")};
  m["state"] = {on(tensor("sum", "f32", {kN}), "cuda:1")};
  json fresh = on(buffer("state", 0, kBytes), "cuda:1");
  fresh["new"] = true;
  m["buffers"] = {on(buffer("input", 0, kBytes), "cuda:1"),
                  on(buffer("state", 0, kBytes), "cuda:1"), fresh};
  m["commands"] = {launch(1, {1, 0, 2}, 0)};
  Session session(share(program));
  std::vector<float> x(kN, 3), sum(kN);
  runOnce(session, {x.data()}, {});
  // The same with an input in the memory of another device.
  runtime::Device &other = runtime::openDevice({"cuda", 0}), &cpu = runtime::openDevice({"cpu", 0});
  runtime::DeviceMemory there(other, kBytes, "x");
  copyBytes(there.data(), other, x.data(), cpu, kBytes);
  runtime::BoundArray argument{there.data(), &other};
  session.runOn({&argument, 1}, {});
  session.states().get(0, sum.data());
  EXPECT_EQ(sum, std::vector<float>(kN, 6));
  TemporaryFolder folder;
  session.states().save(folder / "a.safetensors");
  session.states().reset();
  session.states().get(0, sum.data());
  EXPECT_EQ(sum, std::vector<float>(kN, 0));
  session.states().load(folder / "a.safetensors", false, false);
  session.states().get(0, sum.data());
  EXPECT_EQ(sum, std::vector<float>(kN, 6));
}

TEST(GpuStreams, LoopsAndBranches) {
  // A loop with x = 2 x + 1 runs twice. Its condition is computed by the body and copied between
  // buffers. A branch on the last condition follows.
  Program program = withKernels();
  json &m = program.manifest;
  m["arena"] = {{"cuda:0", 2 * kBytes + 16}};
  m["streams"] = {"cuda:0"};
  m["inputs"] = {on(tensor("x", "f32", {kN}), "cuda:0")};
  m["outputs"] = {on(tensor("y", "f32", {kN}), "cuda:0")};
  m["buffers"] = {on(buffer("input", 0, kBytes), "cuda:0"),
                  on(buffer("arena", 0, kBytes), "cuda:0"),
                  on(buffer("arena", 0, kBytes, kBytes), "cuda:0"),
                  on(buffer("arena", 0, 8, 2 * kBytes), "cuda:0"),
                  on(buffer("arena", 0, 1, 2 * kBytes + 8), "cuda:0"),
                  on(buffer("output", 0, kBytes), "cuda:0")};
  json start = {{"op", "fill"}, {"to", 4}, {"byte", 1}};
  json loop = {{"op", "loop"},
               {"cond", 4},
               {"index", 3},
               {"body", {launch(0, {1, 2}, 0), copy(2, 1, 0), launch(2, {3, 4}, 0)}}};
  json branch = {{"op", "if"},
                 {"cond", 4},
                 {"then", json::array({copy(0, 5, 0)})},
                 {"else", json::array({copy(1, 5, 0)})}};
  m["commands"] = {copy(0, 1, 0), start, loop, branch};
  Session session(share(program));
  EXPECT_EQ(results(session, 1), std::vector<float>(kN, 7));
}

TEST(GpuStreams, TracesHaveTheDevicesTimes) {
  Session session(share(twoGpus()));
  session.setTrace(true);
  results(session, 1);
  std::map<uint32_t, int> counts;
  for (const runtime::TraceEvent &event : session.takeTrace()) {
    EXPECT_LE(event.startNs, event.endNs);
    ++counts[event.stream];
  }
  EXPECT_EQ(counts, (std::map<uint32_t, int>{{0, 2}, {1, 6}, {2, 3}, {3, 3}, {4, 3}, {5, 2}}));
}

/// Program t = 2 x + 1; sum += t; y = t + t, all on cuda:0. With `readsSum`, y = t + sum.
Program step(bool readsSum = false) {
  Program program = withKernels();
  json &m = program.manifest;
  m["arena"] = {{"cuda:0", kBytes}};
  m["streams"] = {"cuda:0"};
  m["inputs"] = {on(tensor("x", "f32", {kN}), "cuda:0")};
  m["outputs"] = {on(tensor("y", "f32", {kN}), "cuda:0")};
  m["state"] = {on(tensor("sum", "f32", {kN}), "cuda:0")};
  json fresh = on(buffer("state", 0, kBytes), "cuda:0");
  fresh["new"] = true;
  m["buffers"] = {
      on(buffer("input", 0, kBytes), "cuda:0"), on(buffer("arena", 0, kBytes), "cuda:0"),
      on(buffer("state", 0, kBytes), "cuda:0"), fresh, on(buffer("output", 0, kBytes), "cuda:0")};
  m["commands"] = {launch(0, {0, 1}, 0), launch(1, {1, 2, 3}, 0),
                   launch(1, {1, readsSum ? 3 : 1, 4}, 0)};
  return program;
}

float sumOf(const Session &session) {
  std::vector<float> sum(kN);
  session.states().get(0, sum.data());
  for (float value : sum)
    EXPECT_EQ(value, sum[0]);
  return sum[0];
}

TEST(GpuStreams, StepsAreGraphs) {
  Session session(share(step())), plain(share(step()), {.plainLaunches = true});
  float sum = 0;
  for (int round = 0; round < 6; ++round) {
    sum += 2 * float(round) + 1;
    for (Session *one : {&session, &plain}) {
      EXPECT_EQ(results(*one, float(round)), std::vector<float>(kN, 4 * float(round) + 2));
      EXPECT_EQ(sumOf(*one), sum);
    }
  }
  // The first run loads modules, which a stream capture does not permit.
  EXPECT_EQ(session.graphLaunches(), 5u);
  EXPECT_EQ(plain.graphLaunches(), 0u);
  // With a trace, commands are launched one by one, so that each has its own time.
  session.setTrace(true);
  EXPECT_EQ(results(session, 1), std::vector<float>(kN, 6));
  EXPECT_EQ(session.takeTrace().size(), 3u);
  EXPECT_EQ(session.graphLaunches(), 5u);
}

/// Program whose row i of y is 2 x + 1, applied i + 1 times. With `counts` a kernel reads the loop
/// index.
Program rows(int64_t trips, bool counts) {
  Program program = withKernels();
  json &m = program.manifest;
  m["arena"] = {{"cuda:0", kBytes + 16}};
  m["streams"] = {"cuda:0"};
  m["inputs"] = {on(tensor("x", "f32", {kN}), "cuda:0")};
  m["outputs"] = {on(tensor("y", "f32", {trips, kN}), "cuda:0")};
  m["constants"].push_back({{"bytes", 8}});
  program.constants.push_back(runtime::copyToOwnedSpan(&trips, sizeof trips));
  json row = on(buffer("output", 0, kBytes), "cuda:0");
  row["step"] = kBytes;
  m["buffers"] = {on(buffer("input", 0, kBytes), "cuda:0"),
                  on(buffer("arena", 0, kBytes), "cuda:0"),
                  row,
                  on(buffer("constant", 1, 8), "cuda:0"),
                  on(buffer("arena", 0, 8, kBytes), "cuda:0"),
                  on(buffer("arena", 0, 1, kBytes + 8), "cuda:0")};
  json body = {launch(0, {1, 2}, 0), copy(2, 1, 0)};
  if (counts)
    body.push_back(launch(2, {4, 5}, 0));
  json loop = {{"op", "loop"}, {"trip", 3}, {"index", 4}, {"body", body}};
  m["commands"] = {copy(0, 1, 0), loop};
  return program;
}

TEST(GpuStreams, LoopsOfKnownLengthAreGraphs) {
  constexpr int64_t kTrips = 5;
  std::vector<float> wanted;
  float last = 3;
  for (int64_t i = 0; i < kTrips; ++i) {
    last = 2 * last + 1;
    wanted.insert(wanted.end(), kN, last);
  }
  for (bool counts : {false, true}) {
    Session session(share(rows(kTrips, counts)));
    runtime::Device &gpu = runtime::openDevice({"cuda", 0}), &cpu = runtime::openDevice({"cpu", 0});
    std::vector<float> x(kN, 3), y(kTrips * kN);
    runtime::DeviceMemory from(gpu, kBytes, "x");
    std::vector<runtime::DeviceMemory> to;
    copyBytes(from.data(), gpu, x.data(), cpu, kBytes);
    for (int i = 0; i < 2; ++i)
      to.emplace_back(gpu, kTrips * kBytes, "y");
    // Two output arrays are used alternately. Each must get its own rows.
    for (int round = 0; round < 6; ++round) {
      runtime::DeviceMemory &result = to[size_t(round % 2)];
      std::vector<float> poison(y.size(), -1);
      copyBytes(result.data(), gpu, poison.data(), cpu, kTrips * kBytes);
      runtime::BoundArray in{from.data(), &gpu}, out{result.data(), &gpu};
      session.runOn({&in, 1}, {&out, 1});
      copyBytes(y.data(), cpu, result.data(), gpu, kTrips * kBytes);
      EXPECT_EQ(y, wanted) << round;
    }
    // The host provides the loop index that a kernel reads, so there is no graph.
    EXPECT_EQ(session.graphLaunches(), counts ? 0u : 4u);
  }
}

TEST(GpuStreams, GraphsFollowTheArguments) {
  Session session(share(step()));
  runtime::Device &gpu = runtime::openDevice({"cuda", 0}), &cpu = runtime::openDevice({"cpu", 0});
  constexpr int kSets = 11; // more than the number of cached graphs
  std::vector<runtime::DeviceMemory> x, y;
  for (int i = 0; i < kSets; ++i) {
    x.emplace_back(gpu, kBytes, "x");
    y.emplace_back(gpu, kBytes + 16, "y");
    std::vector<float> values(kN, float(i));
    copyBytes(x[size_t(i)].data(), gpu, values.data(), cpu, kBytes);
  }
  auto run = [&](size_t i, size_t skip) {
    runtime::BoundArray from{x[i].data(), &gpu}, to{y[i].data() + skip, &gpu};
    session.runOn({&from, 1}, {&to, 1});
    std::vector<float> values(kN);
    copyBytes(values.data(), cpu, y[i].data() + skip, gpu, kBytes);
    EXPECT_EQ(values, std::vector<float>(kN, 4 * float(i) + 2));
  };
  for (int round = 0; round < 3; ++round)
    for (size_t i = 0; i < 2; ++i)
      run(i, 0);
  EXPECT_EQ(session.graphLaunches(), 4u);
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < kSets; ++i)
      run(i, 0);
  EXPECT_EQ(session.graphLaunches(), 6u);
  // An output that is not aligned as kernels require is written through memory of the session.
  for (int round = 0; round < 3; ++round)
    run(3, 4);
  EXPECT_EQ(session.graphLaunches(), 8u);
}

/// A caller's stream and arrays on cuda:0.
struct Caller {
  runtime::Device &gpu = runtime::openDevice({"cuda", 0}), &cpu = runtime::openDevice({"cpu", 0});
  runtime::DeviceMemory x{gpu, kBytes, "x"}, y{gpu, kBytes, "y"};
  void *stream = nullptr;

  explicit Caller(float value) {
    gpu.call(gpu.table.stream_create, &stream);
    std::vector<float> values(kN, value);
    copyBytes(x.data(), gpu, values.data(), cpu, kBytes);
  }
  Caller(const Caller &) = delete;
  ~Caller() { gpu.table.stream_destroy(gpu.handle, stream); }

  void enqueue(Session &session, std::shared_ptr<runtime::DeviceEvent> *end = nullptr) {
    runtime::BoundArray from{x.data(), &gpu}, to{y.data(), &gpu};
    auto made = session.enqueue({&from, 1}, {&to, 1}, stream);
    if (end)
      *end = made;
  }
  std::vector<float> read() {
    std::vector<float> values(kN);
    copyBytes(values.data(), cpu, y.data(), gpu, kBytes);
    return values;
  }
};

/// Sets a wait that the emulator skips (dlc_emulated_configure), or none for an empty text.
void drop(const std::string &wait) {
  void *emulator = dlopen(DLC_EMULATED_GPU_FILE, RTLD_NOW);
  auto configure = reinterpret_cast<int (*)(const char *, const char *)>(
      dlsym(emulator, "dlc_emulated_configure"));
  ASSERT_NE(configure("drop", wait.c_str()), 0);
}

TEST(GpuStreams, EnqueuedRunsAreNotWaitedFor) {
  const char *order = std::getenv("DLC_EMULATED_ORDER");
  if (order && std::string(order) != "late")
    GTEST_SKIP() << "work may run early in this order";
  Session session(share(step()));
  ASSERT_EQ(session.enqueueDevice(), &runtime::openDevice({"cuda", 0}));
  Caller caller(2);
  for (int round = 0; round < 4; ++round) {
    std::vector<float> poison(kN, -1);
    copyBytes(caller.y.data(), caller.gpu, poison.data(), caller.cpu, kBytes);
    std::shared_ptr<runtime::DeviceEvent> end;
    caller.enqueue(session, &end);
    EXPECT_EQ(caller.read(), poison); // the copy is in another stream, which does not wait
    end->synchronize();
    EXPECT_EQ(caller.read(), std::vector<float>(kN, 10));
  }
  EXPECT_EQ(session.graphLaunches(), 3u);
}

/// Runs the program alternately in two streams, which share its arena and its state. Waits for the
/// stream `first` before the other one, and returns whether the state and the results are right.
bool runsInTwoStreams(const std::string &dropped, size_t first) {
  Session session(share(step(true)));
  drop(dropped);
  Caller callers[] = {Caller(1), Caller(2)};
  std::shared_ptr<runtime::DeviceEvent> ends[2];
  for (int round = 0; round < 4; ++round)
    for (size_t i = 0; i < 2; ++i)
      callers[i].enqueue(session, &ends[i]);
  drop("");
  // In the late order, a stream runs when the host waits for it.
  ends[first]->synchronize();
  ends[1 - first]->synchronize();
  return callers[0].read() == std::vector<float>(kN, 30) &&
         callers[1].read() == std::vector<float>(kN, 37) && sumOf(session) == 32;
}

TEST(GpuStreams, RunsInDifferentStreamsAreOrdered) {
  EXPECT_TRUE(runsInTwoStreams("", 0));
  EXPECT_TRUE(runsInTwoStreams("", 1));
  const char *order = std::getenv("DLC_EMULATED_ORDER");
  if (order && std::string(order) != "late")
    GTEST_SKIP() << "a missing wait need not have an effect in this order";
  EXPECT_FALSE(runsInTwoStreams("0:0:0:1", 0));
  EXPECT_FALSE(runsInTwoStreams("0:1:0:1", 1));
}

TEST(GpuStreams, StatesInTheCallersMemory) {
  Session session(share(step()));
  Caller caller(3);
  runtime::DeviceMemory sum(caller.gpu, kBytes, "sum");
  session.bindState(0, sum.data(), kBytes, &caller.gpu);
  std::shared_ptr<runtime::DeviceEvent> end;
  for (int round = 0; round < 3; ++round)
    caller.enqueue(session, &end);
  end->synchronize();
  std::vector<float> values(kN);
  copyBytes(values.data(), caller.cpu, sum.data(), caller.gpu, kBytes);
  EXPECT_EQ(values, std::vector<float>(kN, 21));
  session.bindState(0, nullptr, 0, nullptr);
  EXPECT_EQ(sumOf(session), 21);
  EXPECT_THAT(errorOf([&] { session.bindState(0, values.data(), kBytes); }),
              HasSubstr("required to bind it to the caller's memory: memory on this device; found: "
                        "memory on cpu"));
  EXPECT_THAT(errorOf([&] { session.bindState(0, sum.data() + 4, kBytes, &caller.gpu); }),
              HasSubstr("aligned to 16 bytes"));
}

TEST(GpuStreams, ArraysOfTheHostInAStream) {
  Session session(share(step()));
  Caller caller(0);
  for (int round = 0; round < 4; ++round) {
    std::vector<float> x(kN, float(round)), y(kN);
    runtime::BoundArray from{x.data(), nullptr}, to{y.data(), nullptr};
    session.enqueue({&from, 1}, {&to, 1}, caller.stream);
    EXPECT_EQ(y, std::vector<float>(kN, 4 * float(round) + 2));
  }
}

TEST(GpuStreams, MemoryIsGivenBack) {
  runtime::Device &gpu = runtime::openDevice({"cuda", 0});
  uint64_t before = gpu.properties().free_bytes;
  for (int round = 0; round < 3; ++round) {
    Session session(share(step()));
    for (int i = 0; i < 3; ++i)
      results(session, 1);
    EXPECT_LT(gpu.properties().free_bytes, before);
    Program large = step();
    large.manifest["arena"]["cuda:0"] = uint64_t(1) << 40;
    EXPECT_NE(errorOf([&] { Session other(share(large)); }), "");
    // The other session remains usable.
    EXPECT_EQ(results(session, 2), std::vector<float>(kN, 10));
  }
  EXPECT_EQ(gpu.properties().free_bytes, before);
}

TEST(GpuStreams, Errors) {
  Program large = twoGpus();
  large.manifest["arena"]["cuda:1"] = uint64_t(1) << 40;
  EXPECT_THAT(
      errorOf([&] { Session session(share(large)); }),
      HasSubstr(
          "cuda:1: cannot allocate 1099511627776 bytes for the program's intermediate values"));
  Program missing = twoGpus();
  missing.manifest["kernels"][0]["function"] = "nobody";
  EXPECT_THAT(errorOf([&] { Session session(share(missing)); }), HasSubstr("nobody"));
  Program absent = twoGpus();
  absent.manifest["streams"][0] = "cuda:7";
  absent.manifest["buffers"][1]["device"] = "cuda:7";
  absent.manifest["buffers"][1]["bytes"] = 0;
  absent.manifest["commands"] = json::array();
  EXPECT_THAT(
      errorOf([&] { Session session(share(absent)); }),
      HasSubstr("device not found: cuda:7: 2 of kind cuda are available, cuda:0 to cuda:1"));
  // The preceding errors do not affect a new session.
  Session session(share(twoGpus()));
  EXPECT_EQ(results(session, 2), std::vector<float>(kN, 16));
  Program wrong = twoGpus();
  wrong.manifest["commands"][3]["grid"] = {8, 1};
  EXPECT_THAT(errorOf([&] { runtime::checkProgram(wrong); }),
              HasSubstr("grid: required: three positive sizes"));
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("DLC_PLUGINS", DLC_CUDA_PLUGIN_FOLDER, 1);
  setenv("DLC_CUDA_DRIVER", DLC_EMULATED_GPU_FILE, 1);
  setenv("DLC_CUDA_NVRTC", DLC_EMULATED_GPU_FILE, 1);
  setenv("DLC_CUDA_NCCL", DLC_EMULATED_GPU_FILE, 1);
  return RUN_ALL_TESTS();
}

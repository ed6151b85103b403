//===- StreamsTest.cpp - programs on several devices at once ------------------===//
#include "Sample.h"

#include "dlc/MemoryError.h"
#include "dlc/dlc.hpp"
#include "runtime/device/Device.h"
#include "runtime/program/Checker.h"
#include "runtime/session/Binder.h"
#include "runtime/session/state/State.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

using namespace dlc::test;
namespace runtime = dlc::runtime;
using testing::HasSubstr;

namespace {

constexpr int64_t kN = 1000;
constexpr uint64_t kBytes = kN * 4;

json on(json thing, const std::string &device) {
  thing["device"] = device;
  return thing;
}

json launch(const std::string &kernel, std::vector<int> buffers, int stream) {
  int written = static_cast<int>(buffers.size()) - 1;
  return {{"op", "launch"},     {"name", kernel},      {"kernel", kernelIndex(kernel)},
          {"buffers", buffers}, {"writes", {written}}, {"extent", kN},
          {"grain", 64},        {"stream", stream}};
}
json copy(int from, int to, int stream) {
  return {{"op", "copy"}, {"name", "copy"},  {"from", from},
          {"to", to},     {"bytes", kBytes}, {"stream", stream}};
}
json record(int event, int stream) {
  return {{"op", "record"}, {"event", event}, {"stream", stream}};
}
json wait(int event, int stream) { return {{"op", "wait"}, {"event", event}, {"stream", stream}}; }

/// Program y = (2 x + 1) + (2 x + 1), with the first half on cpu and the second on cpu:1.
Program halves() {
  Program program = emptyProgram();
  json &m = program.manifest;
  m["arena"] = {{"cpu", 2 * kBytes}, {"cpu:1", 2 * kBytes}};
  m["streams"] = {"cpu", "cpu:1", "cpu:1", "cpu:1"};
  m["inputs"] = {tensor("x", "f32", {kN})};
  m["outputs"] = {tensor("y", "f32", {kN})};
  m["buffers"] = {buffer("input", 0, kBytes),
                  on(buffer("arena", 0, kBytes), "cpu:1"),
                  on(buffer("arena", 0, kBytes, kBytes), "cpu:1"),
                  buffer("arena", 0, kBytes),
                  buffer("arena", 0, kBytes, kBytes),
                  buffer("output", 0, kBytes)};
  m["commands"] = {copy(0, 1, 1),
                   record(0, 1),
                   wait(0, 2),
                   launch("affine", {1, 2}, 2),
                   record(1, 2),
                   wait(1, 3),
                   copy(2, 3, 3),
                   record(2, 3),
                   launch("affine", {0, 4}, 0),
                   wait(2, 0),
                   launch("add", {3, 4, 5}, 0)};
  return program;
}

/// Returns the outputs of one run of a new session. Throws its error.
std::vector<float> results(const Program &program, const std::string &order = "") {
  SessionOptions options;
  options.streamOrder = order;
  Session session(share(program), options);
  std::vector<float> x(kN), y(kN, -1);
  for (int64_t i = 0; i < kN; ++i)
    x[size_t(i)] = float(i);
  runOnce(session, {x.data()}, {y.data()});
  return y;
}

std::vector<float> expected() {
  std::vector<float> y(kN);
  for (int64_t i = 0; i < kN; ++i)
    y[size_t(i)] = 4 * float(i) + 2;
  return y;
}

std::string checked(const Program &program) {
  return errorOf([&] { runtime::checkProgram(program); });
}

TEST(Streams, RunInEveryOrder) {
  EXPECT_EQ(results(halves()), expected());
  for (int stream = 0; stream < 4; ++stream)
    for (const char *order : {"late:", "first:"})
      EXPECT_EQ(results(halves(), order + std::to_string(stream)), expected());
  for (int seed = 0; seed < 20; ++seed)
    EXPECT_EQ(results(halves(), "random:" + std::to_string(seed)), expected());
}

TEST(Streams, RunAgainAndAgain) {
  Session session(share(halves()));
  std::vector<float> x(kN), y(kN);
  for (int round = 0; round < 200; ++round) {
    std::fill(x.begin(), x.end(), float(round));
    runOnce(session, {x.data()}, {y.data()});
    for (float value : y)
      ASSERT_EQ(value, 4 * float(round) + 2);
  }
}

TEST(Streams, EachWaitAndRecordIsNeeded) {
  Program whole = halves();
  int removed = 0;
  for (size_t i = 0; i < whole.manifest["commands"].size(); ++i) {
    std::string op = whole.manifest["commands"][i]["op"];
    if (op != "wait" && op != "record")
      continue;
    Program program = halves();
    program.manifest["commands"].erase(i);
    EXPECT_THAT(checked(program),
                HasSubstr(op == "wait" ? "no event orders the two" : "no command records"));
    ++removed;
  }
  EXPECT_EQ(removed, 6);
}

TEST(Streams, EachCopyIsNeeded) {
  Program whole = halves();
  for (size_t i = 0; i < whole.manifest["commands"].size(); ++i) {
    if (whole.manifest["commands"][i]["op"] != "copy")
      continue;
    Program program = halves();
    program.manifest["commands"].erase(i);
    EXPECT_NE(results(program), expected());
  }
}

TEST(Streams, WhatTheCheckerRefuses) {
  auto with = [](const std::function<void(json &)> &change) {
    Program program = halves();
    change(program.manifest);
    return checked(program);
  };
  EXPECT_THAT(with([](json &m) { m["commands"][3]["stream"] = 7; }),
              HasSubstr("stream 7 does not exist"));
  EXPECT_THAT(with([](json &m) { m["commands"][3]["stream"] = 0; }),
              HasSubstr("commands[3]: runs on cpu but uses buffer 1 on cpu:1"));
  EXPECT_THAT(with([](json &m) { m["commands"][0]["from"] = 3, m["commands"][0]["to"] = 4; }),
              HasSubstr("copies on cpu:1, but neither of its buffers is on that device"));
  EXPECT_THAT(with([](json &m) { std::swap(m["commands"][1], m["commands"][2]); }),
              HasSubstr("recorded by a later command, so that streams would deadlock"));
  EXPECT_THAT(with([](json &m) { m["commands"][4]["event"] = 0; }),
              HasSubstr("was recorded by commands[1] already"));
  EXPECT_THAT(with([](json &m) { m["commands"][2]["event"] = 5; }),
              HasSubstr("which no command records"));
  EXPECT_THAT(with([](json &m) { m["streams"][0] = "tpu"; }), HasSubstr("'tpu' is not available"));
  EXPECT_THAT(with([](json &m) { m["buffers"][0]["device"] = "cpu:1"; }),
              HasSubstr("input 'x' is on cpu, but the buffer is on cpu:1"));
  EXPECT_THAT(with([](json &m) { m["commands"][3]["writes"] = {9}; }),
              HasSubstr("the command has only 2 buffers"));
}

TEST(Streams, BodiesStayOnTheirStream) {
  Program program = halves();
  json inner = launch("affine", {1, 2}, 1);
  program.manifest["commands"][3] = {
      {"op", "loop"}, {"max", 1}, {"body", json::array({inner})}, {"stream", 2}};
  EXPECT_THAT(
      checked(program),
      HasSubstr("commands[3].body[0]: is on stream 1, but the enclosing command is on stream 2"));
  program.manifest["commands"][3]["body"][0] = wait(0, 2);
  EXPECT_THAT(checked(program), HasSubstr("events are not allowed inside if and loop"));
  json &commands = program.manifest["commands"];
  json copy =
      *std::find_if(commands.begin(), commands.end(), [](auto &c) { return c["op"] == "copy"; });
  copy["stream"] = 2;
  commands[3]["body"][0] = copy;
  EXPECT_THAT(checked(program),
              HasSubstr("copies between devices are not allowed inside if and loop"));
  program.manifest["commands"][3]["body"][0] = launch("affine", {1, 2}, 2);
  EXPECT_EQ(results(program), expected());
}

TEST(Streams, AWorkersErrorReachesTheCaller) {
  // A loop on cpu:1 whose buffer exceeds its parent buffer in the second iteration.
  Program program = halves();
  json &m = program.manifest;
  m["inputs"].push_back(on(tensor("trips", "i64", {}), "cpu:1"));
  m["buffers"].push_back(on(buffer("input", 1, 8), "cpu:1"));
  json moved = m["buffers"][2];
  moved["step"] = kBytes;
  m["buffers"].push_back(moved);
  json moving = copy(1, 7, 2);
  json loop = {{"op", "loop"},
               {"name", "moving"},
               {"loc", "net.py:7"},
               {"trip", 6},
               {"body", json::array({moving})},
               {"stream", 2}};
  m["commands"].insert(m["commands"].begin() + 3, loop);
  ASSERT_EQ(checked(program), "");
  Session session(share(program));
  std::vector<float> x(kN, 1), y(kN);
  for (int round = 0; round < 3; ++round) {
    int64_t trips = 2;
    EXPECT_THAT(errorOf([&] {
                  runOnce(session, {x.data(), &trips}, {y.data()});
                }),
                HasSubstr("exceeds a buffer that advances"));
    trips = 1;
    runOnce(session, {x.data(), &trips}, {y.data()});
    EXPECT_EQ(y, std::vector<float>(kN, 6));
  }
}

TEST(Streams, StateIsTornOnlyWhereItWasWritten) {
  // sum += x on cpu:1, where the state is stored.
  Program program = emptyProgram();
  json &m = program.manifest;
  m["streams"] = {"cpu:1"};
  m["inputs"] = {on(tensor("x", "f32", {kN}), "cpu:1")};
  m["state"] = {on(tensor("sum", "f32", {kN}), "cpu:1")};
  json fresh = on(buffer("state", 0, kBytes), "cpu:1");
  fresh["new"] = true;
  m["buffers"] = {on(buffer("input", 0, kBytes), "cpu:1"), on(buffer("state", 0, kBytes), "cpu:1"),
                  fresh};
  m["commands"] = {launch("add", {1, 0, 2}, 0)};
  Session session(share(program));
  std::vector<float> x(kN, 2), sum(kN);
  for (int round = 0; round < 3; ++round)
    runOnce(session, {x.data()}, {});
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

TEST(Streams, ArgumentsMayLieOnAnyDevice) {
  runtime::Device &cpu = runtime::openDevice({"cpu", 0}), &one = runtime::openDevice({"cpu", 1}),
                  &two = runtime::openDevice({"cpu", 2});
  Session session(share(halves()));
  std::vector<float> x(kN, 3), y(kN);
  for (runtime::Device *device : {&one, &two}) {
    runtime::DeviceMemory from(*device, kBytes, "x"), to(*device, kBytes, "y");
    copyBytes(from.data(), *device, x.data(), cpu, kBytes);
    runtime::BoundArray input{from.data(), device}, output{to.data(), device};
    session.runOn({&input, 1}, {&output, 1});
    copyBytes(y.data(), cpu, to.data(), *device, kBytes);
    EXPECT_EQ(y, std::vector<float>(kN, 14));
  }
}

TEST(Streams, TracesHaveARowForEach) {
  Session session(share(halves()));
  session.setTrace(true);
  std::vector<float> x(kN), y(kN);
  runOnce(session, {x.data()}, {y.data()});
  TemporaryFolder folder;
  session.writeTrace(folder / "trace.json");
  std::vector<uint8_t> bytes = readFile(folder / "trace.json");
  json trace = json::parse(bytes.begin(), bytes.end());
  std::map<int, std::string> rows;
  std::map<int, int> counts;
  for (const json &event : trace["traceEvents"]) {
    if (event["ph"] == "M")
      rows[event["tid"]] = event["args"]["name"];
    else
      ++counts[event["tid"]];
  }
  EXPECT_EQ(rows, (std::map<int, std::string>{
                      {1, "cpu"}, {2, "cpu:1, copies"}, {3, "cpu:1"}, {4, "cpu:1, copies"}}));
  EXPECT_EQ(counts, (std::map<int, int>{{1, 3}, {2, 2}, {3, 3}, {4, 3}}));
}

TEST(Streams, OrdersAreChecked) {
  EXPECT_THAT(errorOf([] { results(halves(), "soon"); }),
              HasSubstr("late:N, first:N or random:SEED; found: 'soon'"));
}

/// Returns the program with cpu:1 replaced by another device.
Program moved(Program program, const std::string &device) {
  std::string text = program.manifest.dump(), before = "\"cpu:1\"";
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;)
    text.replace(at, before.size(), "\"" + device + "\"");
  program.manifest = json::parse(text);
  return program;
}

/// Tests with the example plugin, whose memory the host cannot access.
class Plugin : public testing::Test {
protected:
  void SetUp() override { setenv("DLC_PLUGINS", DLC_PLUGIN_FOLDER, 1); }
};

TEST_F(Plugin, RunsHostCodeInMemoryOfItsOwn) {
  EXPECT_EQ(runtime::deviceCount("far"), 2);
  EXPECT_EQ(results(moved(halves(), "far:1")), expected());
  Session session(share(moved(halves(), "far:0")));
  std::vector<float> x(kN), y(kN);
  for (int round = 0; round < 200; ++round) {
    session.setTrace(round % 2 == 0);
    std::fill(x.begin(), x.end(), float(round));
    runOnce(session, {x.data()}, {y.data()});
    ASSERT_EQ(y, std::vector<float>(kN, 4 * float(round) + 2));
    EXPECT_EQ(session.takeTrace().size(), round % 2 == 0 ? 11u : 0u);
  }
  EXPECT_THAT(errorOf([] { results(moved(halves(), "far:0"), "late:0"); }),
              HasSubstr("require streams that the host executes; the program uses far:0"));
  EXPECT_THAT(errorOf([] { results(moved(halves(), "far:7")); }),
              HasSubstr("device not found: far:7: 2 of kind far are available, far:0 to far:1"));
}

TEST_F(Plugin, TakesAndGivesTensors) {
  runtime::Device &host = runtime::hostDevice(), &zero = runtime::openDevice({"far", 0}),
                  &one = runtime::openDevice({"far", 1});
  std::vector<float> x(kN, 3), y(kN);
  runtime::DeviceMemory from(zero, kBytes, "x"), to(one, kBytes, "y");
  copyBytes(from.data(), zero, x.data(), host, kBytes);
  copyBytes(to.data() + 4, one, from.data() + 4, zero, kBytes - 4);
  copyBytes(y.data(), host, to.data(), one, kBytes);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[kN - 1], 3);
  Session session(share(moved(halves(), "far:1")));
  runtime::BoundArray input{from.data(), &zero}, output{to.data(), &one};
  session.runOn({&input, 1}, {&output, 1});
  copyBytes(y.data(), host, to.data(), one, kBytes);
  EXPECT_EQ(y, std::vector<float>(kN, 14));
  DLDevice number = runtime::toDlpackDevice({"far", 1});
  EXPECT_EQ(runtime::deviceName(number)->text(), "far:1");
  EXPECT_FALSE(runtime::deviceName({number.device_type, number.device_id + (1 << 24)}));
  EXPECT_EQ(dlc::Device(number).kind() + "," + std::to_string(dlc::Device("far:1").index()),
            "far,1");
  EXPECT_EQ(dlc::Device(number), dlc::Device("far:1"));
}

using PluginDeathTest = Plugin;
TEST_F(PluginDeathTest, ItsMemoryCannotBeTouched) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  runtime::DeviceMemory memory(runtime::openDevice({"far", 0}), 64, "a test");
  EXPECT_DEATH(memory.data()[0] = 2, "");
}

TEST(Devices, CountAndName) {
  EXPECT_EQ(runtime::deviceCount("cpu"), 8);
  EXPECT_EQ(runtime::deviceCount("tpu"), 0);
  EXPECT_THAT(errorOf([] {
                runtime::openDevice({"cpu", 8});
              }),
              HasSubstr("device not found: cpu:8: 8 of kind cpu are available, cpu to cpu:7"));
  EXPECT_EQ(runtime::parseDeviceName("cpu:0")->text(), "cpu");
  EXPECT_EQ(runtime::parseDeviceName("cuda")->text(), "cuda:0");
  for (const char *wrong : {"", "Gpu", "cpu:", "cpu:x", "cpu:1x", "cuda:-1", "../x", "1x"})
    EXPECT_FALSE(runtime::parseDeviceName(wrong)) << wrong;
  EXPECT_THAT(
      errorOf([] { runtime::requireDeviceName("gpu:1"); }),
      HasSubstr(
          "'gpu:1' is not a device name; write for example cpu, cpu:1 or cuda:0; there are no "
          "devices of kind 'gpu': no libdlc_gpu.so in "));
}

TEST(Devices, MemoryIsLimitedAndGivenBack) {
  setenv("DLC_CPU_MEMORY", "20480", 1);
  runtime::Device &device = runtime::openDevice({"cpu", 5});
  EXPECT_EQ(device.properties().free_bytes, 20480u);
  {
    runtime::DeviceMemory memory(device, 16384, "a test");
    EXPECT_EQ(device.properties().free_bytes, 4096u);
    EXPECT_THAT(
        errorOf([&] { runtime::DeviceMemory(device, 8192, "another"); }),
        HasSubstr("cpu:5: cannot allocate 8192 bytes for another: the device has 20480 bytes, "
                  "of which 16384 are in use"));
  }
  EXPECT_EQ(device.properties().free_bytes, 20480u);
  EXPECT_THROW(runtime::DeviceMemory(device, 32768, "a test"), dlc::MemoryError);
  // A session that exceeds the device's memory releases what it allocated, so the next session can
  // use it.
  Program large = halves();
  large.manifest["arena"]["cpu:1"] = 65536;
  EXPECT_THAT(errorOf([&] { results(large); }),
              HasSubstr("cannot allocate 65536 bytes for the program's intermediate values"));
  EXPECT_EQ(results(halves()), expected());
  unsetenv("DLC_CPU_MEMORY");
}

TEST(DevicesDeathTest, MemoryOutOfReachCannotBeTouched) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  runtime::Device &device = runtime::openDevice({"cpu", 1});
  runtime::DeviceMemory memory(device, 64, "a test");
  memory.data()[0] = 1;
  device.table.protect(device.handle, memory.data(), false);
  EXPECT_DEATH(memory.data()[0] = 2, "");
  device.table.protect(device.handle, memory.data(), true);
  EXPECT_EQ(memory.data()[0], 1);
}

} // namespace

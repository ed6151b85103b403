//===- StateTest.cpp - state of sessions that persists between runs -----------===//
#include "Sample.h"

#include "dlc/dlc.hpp"
#include "runtime/program/Checker.h"
#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"
#include "runtime/program/arrays/Safetensors.h"
#include "runtime/session/capi/Handles.h"
#include "runtime/session/state/State.h"

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

using namespace dlc::test;
namespace runtime = dlc::runtime;
using dlc::DType;
using dlc::Tensor;

namespace {

json stateBuffer(int index, uint64_t bytes, bool isNew) {
  json b = buffer("state", index, bytes);
  if (isNew)
    b["new"] = true;
  return b;
}

/// Program with sum += x in place and y = 2 * sum + 1, where `sum` is initialized with 0.5. No
/// command uses the state `seen`. After that (or, with `early`, before it) a loop copies bytes
/// `trips` times. More than one iteration is an error.
Program summing(int64_t n, bool early = false) {
  Program program = emptyProgram();
  uint64_t bytes = static_cast<uint64_t>(n) * 4;
  std::vector<float> half(static_cast<size_t>(n), 0.5f);
  program.constants = {runtime::copyToOwnedSpan(half.data(), bytes)};
  json &m = program.manifest;
  m["arena"]["cpu"] = 64;
  m["inputs"] = {tensor("x", "f32", {n}), tensor("trips", "i64", {})};
  m["outputs"] = {tensor("y", "f32", {n})};
  m["constants"] = {{{"bytes", bytes}}};
  json sum = tensor("sum", "f32", {n}), seen = tensor("seen", "i64", {2});
  sum["init"] = 0;
  sum["parameter"] = true;
  m["state"] = {sum, seen};
  m["buffers"] = {buffer("input", 0, bytes),    buffer("output", 0, bytes),
                  stateBuffer(0, bytes, false), stateBuffer(0, bytes, true),
                  buffer("input", 1, 8),        buffer("arena", 0, 8, 0),
                  buffer("arena", 0, 8, 56)};
  json add = {{"op", "launch"},       {"name", "add"}, {"kernel", kernelIndex("add")},
              {"buffers", {2, 0, 3}}, {"extent", n},   {"grain", 64}};
  json affine = {{"op", "launch"},    {"name", "affine"}, {"kernel", kernelIndex("affine")},
                 {"buffers", {3, 1}}, {"extent", n},      {"grain", 64}};
  json copy = {{"op", "copy"}, {"from", 5}, {"to", 6}, {"bytes", 8}};
  m["buffers"][6]["step"] = 8;
  json loop = {{"op", "loop"}, {"trip", 4}, {"body", json::array({copy})}};
  m["commands"] = early ? json{loop, add, affine} : json{add, affine, loop};
  return program;
}

struct Summing {
  explicit Summing(int64_t n, bool early = false, SessionOptions options = {})
      : session(share(summing(n, early)), options), x(n, 1), y(n) {}
  float step(int64_t trips = 1) {
    runOnce(session, {x.data(), &trips}, {y.data()});
    return y.back();
  }
  std::vector<float> sum() {
    std::vector<float> values(x.size());
    session.states().get(0, values.data());
    return values;
  }
  Session session;
  std::vector<float> x, y;
};

std::vector<float> all(size_t n, float value) { return std::vector<float>(n, value); }

#define EXPECT_HAS(text, part)                                                                     \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << std::string(text)

} // namespace

TEST(State, LivesFromRunToRun) {
  for (int64_t n : {1, 100, 1 << 20}) { // the last size is allocated on huge pages
    Summing s(n);
    EXPECT_EQ(s.sum(), all(n, 0.5f));
    EXPECT_EQ(s.step(), 4);
    EXPECT_EQ(s.step(), 6);
    EXPECT_EQ(s.sum(), all(n, 2.5f));
    int64_t seen[2] = {7, 7};
    s.session.states().get(1, seen);
    EXPECT_EQ(seen[0] + seen[1], 0);
    s.session.states().set(0, all(n, 10).data());
    EXPECT_EQ(s.step(), 23);
    s.session.states().reset();
    EXPECT_EQ(s.step(), 4);
    EXPECT_GE(s.session.memory().stateBytes, uint64_t(n) * 4 + 16);
    EXPECT_EQ(s.session.memory().arenaBytes, 64u);
    // Each session has its own state.
    EXPECT_EQ(Summing(n).step(), 4);
  }
}

TEST(State, IsAlignedAndAnArtefactKeepsIt) {
  TemporaryFolder folder;
  runtime::writeProgram(summing(33), folder / "p.dlcx");
  Session session(share(runtime::readProgram(folder / "p.dlcx")));
  for (size_t i : {0, 1})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(session.states().data(i)) % 64, 0u);
  ASSERT_EQ(session.plan().states.size(), 2u);
  EXPECT_TRUE(session.plan().states[0].parameter);
  EXPECT_FALSE(session.plan().states[1].parameter);
  std::vector<float> value(33);
  session.states().get(0, value.data());
  EXPECT_EQ(value, all(33, 0.5f));
}

TEST(State, CheckpointsComeBack) {
  TemporaryFolder folder;
  Summing a(50), b(50);
  a.step(), a.step();
  int64_t seen[2] = {3, -4};
  a.session.states().set(1, seen);
  a.session.states().save(folder / "c.safetensors");
  EXPECT_EQ(folder.files(), 1u);
  b.session.states().load(folder / "c.safetensors", false, false);
  EXPECT_EQ(a.step(), b.step());
  int64_t loaded[2];
  b.session.states().get(1, loaded);
  EXPECT_EQ(loaded[1], -4);
  runtime::TensorFile file = runtime::readSafetensors(folder / "c.safetensors");
  EXPECT_EQ(file.metadata.at("dlc.state_of"), "sample");
  EXPECT_EQ(file.tensors.at("seen").dtype, DType::I64);
  EXPECT_HAS(errorOf([&] { a.session.states().save(folder / "no/c"); }), "cannot create");
}

TEST(State, CheckpointsOfAnotherModelChangeNothing) {
  TemporaryFolder folder;
  Summing s(4);
  s.step();
  const std::string path = folder / "c.safetensors";
  s.session.states().save(path);
  runtime::TensorFile right = runtime::readSafetensors(path);
  s.step();
  auto load = [&](const std::function<void(runtime::TensorFile &)> &change, bool missing = false,
                  bool extra = false) {
    runtime::TensorFile file = right;
    change(file);
    runtime::writeSafetensors(folder / "w.safetensors", file);
    return errorOf([&] { s.session.states().load(folder / "w.safetensors", missing, extra); });
  };
  auto drop = [](auto &file) { file.tensors.erase("seen"); };
  auto add = [](auto &file) { file.tensors["other"] = file.tensors["seen"]; };
  std::string error = load(drop);
  EXPECT_HAS(error,
             "w.safetensors: this is a checkpoint of another model ('sample'): it lacks 'seen'");
  EXPECT_HAS(load(add), "no state for its 'other'");
  EXPECT_HAS(load([](auto &file) {
               file.tensors["sum"].shape = {2, 2};
             }),
             "tensor 'sum' must be f32 [4] as in program 'sample'; found: f32 [2, 2]");
  EXPECT_HAS(load([](auto &file) { file.tensors["sum"].dtype = DType::I32; }), "found: i32 [4]");
  // A wrong shape is an error with any options.
  EXPECT_HAS(load([](auto &file) { file.tensors["sum"].shape = {2, 2}; }, true, true), "[2, 2]");
  EXPECT_EQ(s.sum(), all(4, 2.5f));
  EXPECT_HAS(errorOf([&] { s.session.states().load(folder / "none", true, true); }), "none");
  EXPECT_EQ(s.sum(), all(4, 2.5f));

  EXPECT_EQ(load(drop, true, false), "");
  EXPECT_EQ(s.sum(), all(4, 1.5f));
  EXPECT_EQ(load(add, false, true), "");
}

TEST(State, IsTheCallersMemory) {
  Summing s(100);
  s.step();
  std::vector<float> mine(100, 10);
  s.session.bindState(0, mine.data(), 400);
  EXPECT_EQ(s.step(), 23);
  EXPECT_EQ(mine, all(100, 11));
  // Changes of the bound memory by the caller change the state.
  mine.assign(100, 20);
  EXPECT_EQ(s.sum(), all(100, 20));
  EXPECT_EQ(s.step(), 43);
  std::vector<float> other(100, 1);
  s.session.bindState(0, other.data(), 400);
  EXPECT_EQ(s.step(), 5);
  EXPECT_EQ(mine, all(100, 21));
  // Unbinding copies the current value to the session's own memory.
  s.session.bindState(0, nullptr, 0);
  EXPECT_EQ(s.step(), 7);
  EXPECT_EQ(other, all(100, 2));
  s.session.states().reset();
  EXPECT_EQ(s.step(), 4);
}

TEST(State, WhatCannotBeBoundIsRefused) {
  Summing s(4);
  std::vector<float> mine(5, 10);
  EXPECT_HAS(errorOf([&] { s.session.bindState(0, mine.data(), 20); }),
             "state 'sum' of program 'sample' has 16 bytes; found: memory of 20");
  EXPECT_HAS(
      errorOf([&] { s.session.bindState(0, reinterpret_cast<char *>(mine.data()) + 1, 16); }),
      "required: memory aligned to 4 bytes, the size of f32");
  EXPECT_HAS(errorOf([&] { s.session.bindState(2, mine.data(), 16); }), "has 2 states");
  {
    Summing borrower(4, false, {.shareState = &s.session});
    for (Session *session : {&s.session, &borrower.session})
      EXPECT_HAS(errorOf([&] { session->bindState(0, mine.data(), 16); }),
                 "is shared with another session");
  }
  EXPECT_EQ(s.step(), 4);
  s.session.bindState(0, mine.data(), 16);
  EXPECT_EQ(s.step(), 23);
  // A session that shares the state could outlive the caller's memory, so sharing bound state is
  // refused.
  EXPECT_HAS(errorOf([&] { Summing borrower(4, false, {.shareState = &s.session}); }),
             "state 'sum' of program 'sample' is bound to the caller's memory");
  s.session.bindState(0, nullptr, 0);
  Summing borrower(4, false, {.shareState = &s.session});
  EXPECT_EQ(borrower.step(), 25);
}

TEST(State, AProgramBeginsWithWhatASessionHas) {
  Summing s(9);
  std::vector<float> mine(9, 10);
  s.session.bindState(0, mine.data(), 36);
  s.step();
  int64_t seen[2] = {3, -4};
  s.session.states().set(1, seen);
  Session again(share(s.session.states().started()));
  mine.assign(9, 0);
  std::vector<float> value(9);
  again.states().get(0, value.data());
  EXPECT_EQ(value, all(9, 11));
  int64_t kept[2];
  again.states().get(1, kept);
  EXPECT_EQ(kept[1], -4);
}

/// Kills a process repeatedly while it saves. The file must always be one of the saved files,
/// complete.
TEST(State, KilledWhileSaving) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  constexpr int64_t n = 1 << 20;
  { Summing(n).session.states().save(path); }
  int different = 0;
  float last = -1;
  for (int round = 0; round < 20; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Program program = summing(n);
      runtime::Plan plan = runtime::checkProgram(program);
      runtime::StateSet states(plan, program, nullptr, nullptr);
      for (int i = 0;; ++i) {
        states.set(0, all(n, float(round * 1000 + i)).data());
        if (i == 1)
          (void)!write(ready[1], "x", 1);
        states.save(path);
      }
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(700 * round));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    close(ready[0]), close(ready[1]);
    ASSERT_TRUE(WIFSIGNALED(status));
    Summing s(n);
    s.session.states().load(path, false, false);
    std::vector<float> sum = s.sum();
    ASSERT_EQ(sum, all(n, sum[0])) << "a file of two halves";
    different += sum[0] != last;
    last = sum[0];
  }
  EXPECT_GT(different, 15);
}

TEST(State, ARunThatFailsBeforeItsUpdatesChangesNothing) {
  Summing s(4, /*early=*/true);
  s.step();
  std::string error = errorOf([&] { s.step(2); });
  EXPECT_HAS(error, "exceeds a buffer that advances");
  EXPECT_EQ(error.find("updated"), std::string::npos) << error;
  EXPECT_EQ(s.sum(), all(4, 1.5f));
  EXPECT_EQ(s.step(), 6);
}

TEST(State, ARunThatFailsAfterAnUpdateIsNotMistakenForAGoodOne) {
  TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  Summing s(4);
  s.session.states().save(path);
  EXPECT_HAS(errorOf([&] { s.step(2); }), "updated only a part of the program's state");
  EXPECT_HAS(errorOf([&] { s.step(); }), "cannot run: a run failed after it had updated");
  EXPECT_HAS(errorOf([&] { s.session.states().save(path); }), "cannot save the state");
  EXPECT_EQ(s.sum(), all(4, 1.5f)); // state remains readable for inspection
  // Loading only a part of the state does not make it valid again.
  runtime::TensorFile file = runtime::readSafetensors(path);
  file.tensors.erase("seen");
  runtime::writeSafetensors(folder / "part", file);
  s.session.states().load(folder / "part", true, false);
  s.session.states().set(0, all(4, 1).data());
  EXPECT_HAS(errorOf([&] { s.step(); }), "cannot run");
  s.session.states().load(path, false, false);
  EXPECT_EQ(s.step(), 4);
  EXPECT_NE(errorOf([&] { s.step(2); }), "");
  s.session.states().reset();
  EXPECT_EQ(s.step(), 4);
}

TEST(State, IsSharedByName) {
  auto lender = std::make_unique<Summing>(4);
  lender->step();
  Program other = summing(4);
  other.manifest["name"] = "other";
  other.manifest["state"][1]["name"] = "mine";
  auto borrower = std::make_unique<Session>(share(other), SessionOptions{0, &lender->session});
  EXPECT_EQ(borrower->states().data(0), lender->session.states().data(0));
  EXPECT_NE(borrower->states().data(1), lender->session.states().data(1));
  EXPECT_EQ(borrower->memory().stateBytes, 16u);
  std::vector<float> x(4, 1), y(4);
  int64_t trips = 1;
  runOnce(*borrower, {x.data(), &trips}, {y.data()});
  EXPECT_EQ(y[3], 6);
  EXPECT_EQ(lender->step(), 8);
  // State that a failed run has invalidated is invalid for both sessions, until all of the memory
  // has new values.
  trips = 2;
  EXPECT_NE(errorOf([&] { runOnce(*borrower, {x.data(), &trips}, {y.data()}); }), "");
  EXPECT_HAS(errorOf([&] { lender->step(); }), "cannot run");
  borrower->states().reset(); // does not reset the lender's `seen`
  EXPECT_HAS(errorOf([&] { lender->step(); }), "cannot run");
  lender->session.states().reset();
  EXPECT_EQ(lender->step(), 4);
  // The memory outlives the session that allocated it.
  lender.reset();
  trips = 1;
  runOnce(*borrower, {x.data(), &trips}, {y.data()});
  EXPECT_EQ(y[3], 6);

  Program wrong = summing(5);
  wrong.manifest["name"] = "wrong";
  EXPECT_HAS(errorOf([&] {
               Session(share(wrong), {0, borrower.get()});
             }),
             "state 'sum' is f32 [5] in program 'wrong' and f32 [4] in 'other'");
}

TEST(State, SharersTakeTurns) {
  constexpr int64_t n = 10000;
  constexpr int runs = 300;
  Summing a(n, false, {1});
  Session b(a.session.program(), {1, &a.session});
  std::thread other([&] {
    std::vector<float> x(n, 1), y(n);
    int64_t trips = 1;
    for (int i = 0; i < runs; ++i)
      runOnce(b, {x.data(), &trips}, {y.data()});
  });
  for (int i = 0; i < runs; ++i)
    a.step();
  other.join();
  EXPECT_EQ(a.sum(), all(n, 2 * runs + 0.5f));
}

TEST(State, CInterface) {
  TemporaryFolder folder;
  runtime::writeProgram(summing(3), folder / "p.dlcx");
  auto session = dlc::Session::load(folder / "p.dlcx");
  ASSERT_EQ(session.states().size(), 2u);
  EXPECT_EQ(session.states()[0].name, "sum");
  EXPECT_EQ(session.inputs().size(), 2u);
  EXPECT_EQ(session.outputs().size(), 1u);
  const dlc_program *program = dlc_session_program(session.get());
  EXPECT_EQ(dlc_program_state_is_parameter(program, 0), 1);
  EXPECT_EQ(dlc_program_state_is_parameter(program, 1), 0);
  EXPECT_EQ(dlc_program_state_is_parameter(program, 2), 0);
  auto x = Tensor::of<float>({3}, {1, 2, 3});
  auto once = Tensor::of<int64_t>({}, {1});
  auto step = [&](const dlc::Session &s) {
    return s.run({{"x", x}, {"trips", once}})["y"].data<float>()[2];
  };
  EXPECT_EQ(step(session), 8);
  EXPECT_EQ(session.state("sum").data<float>()[1], 2.5f);
  session.setState("sum", Tensor::of<float>({3}, {0, 0, 0}));
  EXPECT_EQ(step(session), 7);
  session.saveState(folder / "c");
  session.resetState();
  EXPECT_EQ(step(session), 8);
  session.loadState(folder / "c");
  EXPECT_EQ(step(session), 13);
  dlc::Session sharing = dlc::Session::load(folder / "p.dlcx", {.shareState = &session});
  EXPECT_EQ(step(sharing), 19);
  EXPECT_EQ(sharing.memory().state_bytes, 0u);
  EXPECT_GT(session.memory().state_bytes, 0u);
  EXPECT_HAS(errorOf([&] { session.state("nothing"); }), "no state 'nothing'");
  EXPECT_HAS(errorOf([&] { session.setState("nothing", x); }), "the states are 'sum', 'seen'");
  EXPECT_HAS(errorOf([&] { session.setState("sum", once); }),
             "state 'sum' must be of type f32; found: i64");
  EXPECT_HAS(errorOf([&] { session.setState("sum", Tensor(DType::F32, {4})); }),
             "must have shape [3]; found: [4]");
  EXPECT_NE(dlc_session_get_state(session.get(), nullptr, nullptr), nullptr);
}

TEST(State, AnotherProgramTakesOverBetweenTwoRuns) {
  TemporaryFolder folder;
  runtime::writeProgram(summing(3), folder / "p.dlcx");
  runtime::writeProgram(summing(4), folder / "other.dlcx");
  auto session = dlc::Session::load(folder / "p.dlcx");
  auto x = Tensor::of<float>({3}, {1, 2, 3});
  auto once = Tensor::of<int64_t>({}, {1});
  auto step = [&] { return session.run({{"x", x}, {"trips", once}})["y"].data<float>()[2]; };
  EXPECT_EQ(step(), 8);
  session.replace(folder / "p.dlcx");
  EXPECT_EQ(session.state("sum").data<float>()[2], 3.5f);
  EXPECT_EQ(step(), 14);
  std::string refused = errorOf([&] { session.replace(folder / "other.dlcx"); });
  EXPECT_HAS(refused, "required: another compilation of the same model");
  float before = step();
  // Another thread runs the session meanwhile. Each run uses one of the two programs, and no run is
  // lost.
  constexpr int runs = 300;
  std::thread running([&] {
    for (int i = 0; i < runs; ++i)
      step();
  });
  for (int i = 0; i < 20; ++i)
    session.replace(folder / "p.dlcx");
  running.join();
  EXPECT_EQ(step() - before, float(6 * (runs + 1)));
}

TEST(State, TheCheckerSaysWhereAndWhat) {
  struct Damage {
    const char *pointer;
    json value;
    const char *expected;
  };
  const Damage damages[] = {
      {"/state/0/init", 4, "state[0].init: must be a constant of 64 bytes"},
      {"/state/0/shape", {3}, "state[0].init: must be a constant of 12 bytes"},
      {"/state/0/parameter", 1, "state[0].parameter: required: true or false"},
      {"/state/1/name", "sum", "a second tensor named 'sum'"},
      {"/state", 3, "state: required: an array"},
      {"/buffers/2/index", 2, "state 2 does not exist: the program has 2"},
      {"/buffers/2/offset", 4, "exceeds state 0"},
      {"/buffers/0/new", true, "only a state may have a new value"},
      {"/buffers/3/new", "yes", "buffers[3].new"},
      {"/state/0/init", nullptr, ""},
  };
  for (const Damage &damage : damages) {
    Program program = summing(16);
    program.manifest[json::json_pointer(damage.pointer)] = damage.value;
    std::string error = errorOf([&] { runtime::checkProgram(program); });
    if (!*damage.expected)
      EXPECT_EQ(error, "") << damage.pointer;
    else
      EXPECT_HAS(error, damage.expected);
  }
  // The old value of a state must not be written.
  for (int target : {2, 3}) {
    Program program = summing(16);
    program.manifest["commands"].push_back({{"op", "fill"}, {"to", target}, {"byte", 0}});
    EXPECT_EQ(errorOf([&] { runtime::checkProgram(program); }).find("old value") !=
                  std::string::npos,
              target == 2);
  }
}

/// Replaces every value of the manifest with values of every other kind. Expects an error, or a
/// program for which a session can be created.
TEST(State, AnyValueAnywhere) {
  const json values[] = {nullptr,         -1, 0, 1, 1e300, "x", json::array(), json::object(), true,
                         int64_t(1) << 45};
  Program program = summing(16);
  json flat = program.manifest.flatten();
  int refused = 0;
  for (auto &[pointer, old] : flat.items()) {
    if (pointer.starts_with("/kernels") || pointer.ends_with("kernel") ||
        pointer.starts_with("/target"))
      continue;
    for (const json &value : values) {
      Program changed = program;
      changed.manifest[json::json_pointer(pointer)] = value;
      refused += !errorOf([&] {
                    Session session(share(changed), {1});
                    session.states().reset();
                  }).empty();
    }
  }
  EXPECT_GT(refused, 100);
}

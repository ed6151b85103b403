//===- TrainWorld.cpp - what ranks that train together must have alike --------------------===//
#include "tools/dlc/TrainWorld.h"

#include "dlc/Error.h"
#include "runtime/session/Collectives.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dlc::cli {

using runtime::Collective;

namespace {

/// Of what all ranks must run: a file's name is no part of it.
std::string hashOf(const runtime::Program &program) {
  return llvm::utohexstr(llvm::xxh3_64bits(program.manifest.dump())) +
         llvm::utohexstr(llvm::xxh3_64bits(
             {static_cast<const uint8_t *>(program.code.data), program.code.bytes}));
}

} // namespace

void TrainWorld::agree(const std::string &path, const runtime::Program &program,
                       const runtime::Plan &plan, const std::vector<std::string> &settings) {
  if (world.size() == 1)
    return;
  if (!program.manifest.value("training", nlohmann::json::object()).value("data_parallel", false) &&
      runtime::ranksOf(plan) == 0)
    throw Error(path + ": " + std::to_string(world.size()) +
                " processes were started, and the step is one of a single process; required: a "
                "step made by dlc compile --train with --data-parallel, or with --split");
  agreeOnProgram(world, program, plan);
  world.agree("data and settings", settings);
}

void TrainWorld::share(const runtime::Plan &plan, runtime::StateSet &states, int64_t &done) {
  if (world.size() == 1)
    return;
  auto broadcast = [&](void *data, DType type, uint64_t count) {
    world.run({.collective = Collective::Broadcast,
               .type = type,
               .from = data,
               .to = data,
               .share = count});
  };
  broadcast(&done, DType::I64, 1);
  std::vector<char> bytes;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    // Shares and parts are each rank's own.
    if (plan.states[i].sharers > 0 || plan.states[i].part.ranks > 1)
      continue;
    bytes.resize(plan.states[i].bytes);
    states.get(i, bytes.data());
    broadcast(bytes.data(), DType::U8, bytes.size());
    if (world.rank() != 0)
      states.set(i, bytes.data());
  }
}

bool TrainWorld::stops(bool wanted) {
  if (world.size() == 1)
    return wanted;
  Question &now = questions[asked++ % 2], &before = questions[asked % 2];
  now.wanted = wanted;
  now.ticket = world.start({.type = DType::I32,
                            .from = &now.wanted,
                            .to = &now.wanted,
                            .share = 1,
                            .reduction = runtime::Reduction::Max});
  world.wait(before.ticket);
  return before.wanted != 0;
}

void TrainWorld::finish() {
  for (Question &question : questions)
    world.wait(question.ticket);
}

struct Breathing::Impl {
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread thread;
};

Breathing::Breathing(runtime::World &world) : impl(std::make_unique<Impl>()) {
  if (world.size() == 1)
    return;
  impl->thread = std::thread([&world, &own = *impl] {
    std::unique_lock lock(own.mutex);
    while (!own.ended.wait_for(lock, std::chrono::milliseconds(500), [&] { return own.over; }))
      world.alive();
  });
}

Breathing::~Breathing() {
  {
    std::lock_guard lock(impl->mutex);
    impl->over = true;
  }
  impl->ended.notify_one();
  if (impl->thread.joinable())
    impl->thread.join();
}

void agreeOnProgram(runtime::World &world, const runtime::Program &program,
                    const runtime::Plan &plan) {
  std::vector<std::string> lines = runtime::collectiveLines(plan);
  lines.insert(lines.begin(), "hash " + hashOf(program));
  world.agree("program", lines);
}

int inWorld(runtime::World &world, const std::function<int()> &body) {
  if (world.size() == 1)
    return body();
  try {
    return body();
  } catch (const std::exception &error) {
    // What all ranks find wrong is told by the first, which ends the others meanwhile.
    if (world.rank() != 0)
      std::this_thread::sleep_for(std::chrono::seconds(4));
    world.abort(error.what());
  }
}

} // namespace dlc::cli

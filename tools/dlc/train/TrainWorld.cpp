//===- TrainWorld.cpp - consistency of the ranks of a training run --------===//
#include "tools/dlc/train/TrainWorld.h"

#include "dlc/Error.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/state/WorldState.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dlc::cli {

void RankSynchronizer::agree(const std::string &path, const runtime::Program &program,
                             const runtime::Plan &plan, const std::vector<std::string> &settings) {
  if (world.size() == 1)
    return;
  if (runtime::describeCollectives(plan).empty() && runtime::findRankCount(plan) == 0)
    throw Error(path + ": " + std::to_string(world.size()) +
                " processes were started, but the step is compiled for a single process; required: "
                "a step compiled with dlc compile --train --data-parallel, or with --split");
  world.agree("program", runtime::describeProgram(program, plan));
  world.agree("data and settings", settings);
}

void RankSynchronizer::share(const runtime::Plan &plan, runtime::StateSet &states, int64_t &done) {
  if (world.size() == 1)
    return;
  world.run({.collective = runtime::Collective::Broadcast,
             .type = DType::I64,
             .from = &done,
             .to = &done,
             .share = 1});
  runtime::broadcastStates(world, states, plan);
}

bool RankSynchronizer::stops(bool wanted) {
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

void RankSynchronizer::finish() {
  for (Question &question : questions)
    world.wait(question.ticket);
}

struct HeartbeatThread::Impl {
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread thread;
};

HeartbeatThread::HeartbeatThread(runtime::World &world) : impl(std::make_unique<Impl>()) {
  if (world.size() == 1)
    return;
  impl->thread = std::thread([&world, &own = *impl] {
    std::unique_lock lock(own.mutex);
    while (!own.ended.wait_for(lock, std::chrono::milliseconds(500), [&] { return own.over; }))
      world.alive();
  });
}

HeartbeatThread::~HeartbeatThread() {
  {
    std::lock_guard lock(impl->mutex);
    impl->over = true;
  }
  impl->ended.notify_one();
  if (impl->thread.joinable())
    impl->thread.join();
}

int runInWorld(runtime::World &world, const std::function<int()> &body) {
  if (world.size() == 1)
    return body();
  try {
    return body();
  } catch (const std::exception &error) {
    // The other ranks wait before they abort: an error that all ranks detect is reported by rank 0,
    // which terminates them during this delay.
    if (world.rank() != 0)
      std::this_thread::sleep_for(std::chrono::seconds(4));
    world.abort(error.what());
  }
}

} // namespace dlc::cli

//===- TrainWorld.h - consistency of the ranks of a training run ----------===//
#ifndef DLC_TOOLS_DLC_TRAIN_TRAINWORLD_H
#define DLC_TOOLS_DLC_TRAIN_TRAINWORLD_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"
#include "runtime/session/state/State.h"

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace dlc::cli {

/// Keeps the ranks of a training run consistent. All ranks must call each function together. In a
/// world of one rank, the functions do nothing.
class RankSynchronizer {
public:
  explicit RankSynchronizer(runtime::World &world) : world(world) {}

  /// Checks that all ranks have the same program and settings. Throws dlc::Error if they differ.
  void agree(const std::string &path, const runtime::Program &program, const runtime::Plan &plan,
             const std::vector<std::string> &settings);
  /// Broadcasts rank 0's state and its number of finished training steps to all ranks.
  void share(const runtime::Plan &plan, runtime::StateSet &states, int64_t &done);
  /// Returns true if any rank passed `wanted` = true in the previous call, so that all ranks stop
  /// after the same training step. The result is delayed by one call, so that no step waits for the
  /// exchange.
  bool stops(bool wanted);
  /// Waits for the asynchronous exchanges that stops() started.
  void finish();

  runtime::World &world;

private:
  struct Question {
    int32_t wanted = 0;
    runtime::Ticket ticket;
  };
  std::array<Question, 2> questions;
  size_t asked = 0;
};

/// Thread that sends heartbeats while this rank performs long work outside of the commands of a
/// training step.
class HeartbeatThread {
public:
  explicit HeartbeatThread(runtime::World &world);
  ~HeartbeatThread();
  HeartbeatThread(const HeartbeatThread &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Runs `body` and returns its result. If it throws in a world of several ranks, reports the error
/// once and terminates all ranks.
int runInWorld(runtime::World &world, const std::function<int()> &body);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAIN_TRAINWORLD_H

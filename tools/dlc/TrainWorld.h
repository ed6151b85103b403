//===- TrainWorld.h - consistency of the ranks of a training run ----------===//
#ifndef DLC_TOOLS_DLC_TRAINWORLD_H
#define DLC_TOOLS_DLC_TRAINWORLD_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"
#include "runtime/session/State.h"

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace dlc::cli {

/// Synchronizes the ranks of a training run. All ranks must call each function together. In a world
/// of one rank the functions do nothing.
class TrainWorld {
public:
  explicit TrainWorld(runtime::World &world) : world(world) {}

  /// Throws dlc::Error if the ranks have different programs or settings.
  void agree(const std::string &path, const runtime::Program &program, const runtime::Plan &plan,
             const std::vector<std::string> &settings);
  /// Broadcasts rank 0's state and number of finished steps to all ranks.
  void share(const runtime::Plan &plan, runtime::StateSet &states, int64_t &done);
  /// Returns true if a rank requested to stop in the previous call. The answer is delayed by one
  /// step, so that no step waits for the exchange and all ranks stop after the same step.
  bool stops(bool wanted);
  /// Waits for the exchanges that stops() started.
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

/// Sends heartbeats from a thread while this rank performs long work outside of the step's
/// commands.
class HeartbeatThread {
public:
  explicit HeartbeatThread(runtime::World &world);
  ~HeartbeatThread();
  HeartbeatThread(const HeartbeatThread &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Returns the result of `body`. If it throws, reports the error once and terminates all ranks.
int inWorld(runtime::World &world, const std::function<int()> &body);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINWORLD_H

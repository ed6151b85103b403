//===- TrainWorld.h - what ranks that train together must have alike ----------------------===//
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

/// Every function is called by all ranks together. In a world of one they do nothing.
class TrainWorld {
public:
  explicit TrainWorld(runtime::World &world) : world(world) {}

  /// Throws dlc::Error where ranks have different programs, or lines.
  void agree(const std::string &path, const runtime::Program &program, const runtime::Plan &plan,
             const std::vector<std::string> &settings);
  /// Rank 0's state, and its number of steps done, become everybody's.
  void share(const runtime::Plan &plan, runtime::StateSet &states, int64_t &done);
  /// Whether one of them wanted to stop a step ago: all stop after the same step, and no step
  /// waits.
  bool stops(bool wanted);
  /// Of what stops() began.
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

/// Shows signs of life while a rank does something long that is no command.
class Breathing {
public:
  explicit Breathing(runtime::World &world);
  ~Breathing();
  Breathing(const Breathing &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The body's status. What it throws ends all ranks, and is told once.
int inWorld(runtime::World &world, const std::function<int()> &body);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINWORLD_H

//===- TrainTrace.h - timeline of the last steps of all ranks -------------===//
#ifndef DLC_TOOLS_DLC_TRAIN_TRAINTRACE_H
#define DLC_TOOLS_DLC_TRAIN_TRAINTRACE_H

#include "runtime/collective/World.h"
#include "runtime/session/Session.h"

#include <deque>
#include <string>
#include <vector>

namespace dlc::cli {

/// Execution trace of the last training steps of a run. Does nothing if the path is empty.
class TrainingTrace {
public:
  TrainingTrace(std::string path, runtime::Session &session, runtime::World &world);
  /// Records the trace of a training step. Must be called after each step; only the last steps are
  /// retained.
  void stepDone();
  /// Gathers the traces of all ranks, which must all call this function. Rank 0 writes a file with
  /// a group of rows for each rank, with times converted to rank 0's clock.
  void write();

private:
  std::string path;
  runtime::Session &session;
  runtime::World &world;
  std::deque<std::vector<runtime::TraceEvent>> steps;
};

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAIN_TRAINTRACE_H

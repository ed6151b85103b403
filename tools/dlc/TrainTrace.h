//===- TrainTrace.h - timeline of the last steps of all ranks -------------===//
#ifndef DLC_TOOLS_DLC_TRAINTRACE_H
#define DLC_TOOLS_DLC_TRAINTRACE_H

#include "runtime/collective/World.h"
#include "runtime/session/Session.h"

#include <deque>
#include <string>
#include <vector>

namespace dlc::cli {

/// Trace of the last steps of a training run. Does nothing if the path is empty.
class TrainTrace {
public:
  TrainTrace(std::string path, runtime::Session &session, runtime::World &world);
  /// Records the trace of a step. Call after each step; only the last steps are retained.
  void stepDone();
  /// Must be called by all ranks. Rank 0 writes a file with a group of rows for each rank, with
  /// times converted to rank 0's clock.
  void write();

private:
  std::string path;
  runtime::Session &session;
  runtime::World &world;
  std::deque<std::vector<runtime::TraceEvent>> steps;
};

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINTRACE_H

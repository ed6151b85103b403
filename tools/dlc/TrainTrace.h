//===- TrainTrace.h - the last steps of all ranks as one timeline --------------------------===//
#ifndef DLC_TOOLS_DLC_TRAINTRACE_H
#define DLC_TOOLS_DLC_TRAINTRACE_H

#include "runtime/collective/World.h"
#include "runtime/session/Session.h"

#include <deque>
#include <string>
#include <vector>

namespace dlc::cli {

/// Without a path it does nothing.
class TrainTrace {
public:
  TrainTrace(std::string path, runtime::Session &session, runtime::World &world);
  /// After each step; the last ones are kept.
  void stepDone();
  /// All ranks together. Rank 0 writes a file with a group of rows for each of them, by its own
  /// clock.
  void write();

private:
  std::string path;
  runtime::Session &session;
  runtime::World &world;
  std::deque<std::vector<runtime::TraceEvent>> steps;
};

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINTRACE_H

//===- Trace.h - Chrome trace files ------------------------------------------===//
#ifndef DLC_RUNTIME_SESSION_TRACE_H
#define DLC_RUNTIME_SESSION_TRACE_H

#include "runtime/program/Plan.h"
#include "runtime/session/Session.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace dlc::runtime {

/// A process row of a trace: its number, its name, and the clock value that the trace shows as time
/// 0. The clock is that of the traced process.
struct TraceGroup {
  int number = 1;
  std::string name; ///< empty if it is the only process row
  int64_t originNs = 0;
};

DLC_EXPORT int64_t findFirstStart(std::span<const TraceEvent> events);
/// Returns the JSON events of a trace file, with one row per stream. `infos` is
/// Session::commands().
DLC_EXPORT nlohmann::json traceRows(const Plan &plan, std::span<const CommandInfo> infos,
                                    std::span<const TraceEvent> events, const TraceGroup &group);
DLC_EXPORT void writeTraceFile(const std::string &path, nlohmann::json rows);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_TRACE_H

//===- Trace.h - what ran when, as a file for trace viewers ----------------------===//
#ifndef DLC_RUNTIME_SESSION_TRACE_H
#define DLC_RUNTIME_SESSION_TRACE_H

#include "runtime/program/Plan.h"
#include "runtime/session/Session.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace dlc::runtime {

/// Whose rows they are, and the moment that is 0 there, by the clock of who traced.
struct TraceGroup {
  int number = 1;
  std::string name; ///< none: it stands alone
  int64_t originNs = 0;
};

DLC_EXPORT int64_t firstOf(std::span<const TraceEvent> events);
/// The events of a file, with a row for each stream. `infos` are Session::commands().
DLC_EXPORT nlohmann::json traceRows(const Plan &plan, std::span<const CommandInfo> infos,
                                    std::span<const TraceEvent> events, const TraceGroup &group);
DLC_EXPORT void writeTraceFile(const std::string &path, nlohmann::json rows);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_TRACE_H

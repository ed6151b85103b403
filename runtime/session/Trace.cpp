//===- Trace.cpp - what a session traced, as a file for trace viewers ---------===//
#include "runtime/program/AtomicFile.h"
#include "runtime/session/Session.h"

#include <algorithm>

namespace dlc::runtime {

/// A row for each stream, where there are several.
static void nameStreams(const Plan &plan, nlohmann::json &list) {
  if (plan.isPlain())
    return;
  std::vector<bool> computes(plan.streams.size());
  for (const Command &command : plan.commands)
    if (command.op != Op::Copy && command.op != Op::Record && command.op != Op::Wait)
      computes[command.stream] = true;
  for (size_t s = 0; s < plan.streams.size(); ++s)
    list.push_back(
        {{"name", "thread_name"},
         {"ph", "M"},
         {"pid", 1},
         {"tid", s + 1},
         {"args",
          {{"name", plan.devices[plan.streams[s]].name + (computes[s] ? "" : ", copies")}}}});
}

void Session::writeTrace(const std::string &path) {
  std::vector<TraceEvent> events = takeTrace();
  std::vector<CommandInfo> infos = commands();
  int64_t origin = INT64_MAX;
  for (const TraceEvent &event : events)
    origin = std::min(origin, event.startNs);
  nlohmann::json list = nlohmann::json::array();
  for (const TraceEvent &event : events) {
    const CommandInfo &info = infos[event.command];
    nlohmann::json args = {{"command", event.command}, {"implementation", info.implementation}};
    if (!info.loc.empty())
      args["loc"] = info.loc;
    double ns = std::max<double>(1, static_cast<double>(event.endNs - event.startNs));
    if (info.flops > 0)
      args["flops"] = info.flops, args["GFLOP/s"] = info.flops / ns;
    if (info.bytes > 0)
      args["bytes"] = info.bytes, args["GB/s"] = info.bytes / ns;
    list.push_back({{"name", info.name},
                    {"cat", info.op},
                    {"ph", "X"},
                    {"ts", static_cast<double>(event.startNs - origin) / 1000},
                    {"dur", static_cast<double>(event.endNs - event.startNs) / 1000},
                    {"pid", 1},
                    {"tid", event.stream + 1},
                    {"args", std::move(args)}});
  }
  nameStreams(plan(), list);
  nlohmann::json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(list)}};
  std::string text = trace.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

} // namespace dlc::runtime

//===- Trace.cpp - Chrome trace files ----------------------------------------===//
#include "runtime/session/Trace.h"

#include "runtime/program/AtomicFile.h"
#include "runtime/session/Overlap.h"

#include <algorithm>

namespace dlc::runtime {

namespace {

nlohmann::json makeMetadataEvent(const char *what, int group, size_t row, const std::string &name) {
  return {{"name", what}, {"ph", "M"}, {"pid", group}, {"tid", row}, {"args", {{"name", name}}}};
}

/// Adds events that name the row of each stream, if there are several streams.
void addStreamNames(const Plan &plan, int group, nlohmann::json &list) {
  if (plan.isPlain())
    return;
  std::vector<bool> computes(plan.streams.size()), meets(plan.streams.size());
  for (const Command &command : plan.commands)
    if (isCollective(command))
      meets[command.stream] = true;
    else if (command.op != Op::Copy && command.op != Op::Record && command.op != Op::Wait)
      computes[command.stream] = true;
  for (size_t s = 0; s < plan.streams.size(); ++s)
    list.push_back(
        makeMetadataEvent("thread_name", group, s + 1,
                          plan.devices[plan.streams[s]].name + (computes[s] ? ""
                                                                : meets[s]  ? ", collectives"
                                                                            : ", copies")));
}

} // namespace

int64_t findFirstStart(std::span<const TraceEvent> events) {
  int64_t first = INT64_MAX;
  for (const TraceEvent &event : events)
    first = std::min(first, event.startNs);
  return first;
}

nlohmann::json traceRows(const Plan &plan, std::span<const CommandInfo> infos,
                         std::span<const TraceEvent> events, const TraceGroup &group) {
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
                    {"ts", static_cast<double>(event.startNs - group.originNs) / 1000},
                    {"dur", static_cast<double>(event.endNs - event.startNs) / 1000},
                    {"pid", group.number},
                    {"tid", event.stream + 1},
                    {"args", std::move(args)}});
  }
  addStreamNames(plan, group.number, list);
  if (!group.name.empty())
    list.push_back(makeMetadataEvent("process_name", group.number, 0, group.name));
  return list;
}

void writeTraceFile(const std::string &path, nlohmann::json rows) {
  nlohmann::json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(rows)}};
  std::string text = trace.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void Session::writeTrace(const std::string &path) {
  std::vector<TraceEvent> events = takeTrace();
  writeTraceFile(path, traceRows(plan(), commands(), events, {.originNs = findFirstStart(events)}));
}

} // namespace dlc::runtime

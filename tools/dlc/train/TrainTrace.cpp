//===- TrainTrace.cpp - timeline of the last steps of all ranks -----------===//
#include "tools/dlc/train/TrainTrace.h"

#include "runtime/collective/ClockOffset.h"
#include "runtime/session/Trace.h"

namespace dlc::cli {

namespace {

constexpr size_t kKept = 8;

/// Returns the minimum of `number` over all ranks (an all-reduce).
int64_t allReduceMin(runtime::World &world, int64_t number) {
  int64_t most = -number;
  world.run({.type = DType::I64,
             .from = &most,
             .to = &most,
             .share = 1,
             .reduction = runtime::Reduction::Max});
  return -most;
}

/// Broadcasts a text from rank `root`: returns it on all ranks.
std::string broadcastText(runtime::World &world, std::string text, int root) {
  auto run = [&](void *data, DType type, uint64_t count) {
    world.run({.collective = runtime::Collective::Broadcast,
               .type = type,
               .from = data,
               .to = data,
               .share = count,
               .root = root});
  };
  uint64_t length = text.size();
  run(&length, DType::U64, 1);
  text.resize(length);
  run(text.data(), DType::U8, length);
  return text;
}

} // namespace

TrainingTrace::TrainingTrace(std::string path, runtime::Session &session, runtime::World &world)
    : path(std::move(path)), session(session), world(world) {
  session.setTrace(!this->path.empty());
}

void TrainingTrace::stepDone() {
  if (path.empty())
    return;
  steps.push_back(session.takeTrace());
  if (steps.size() > kKept)
    steps.pop_front();
}

void TrainingTrace::write() {
  if (path.empty())
    return;
  std::vector<runtime::TraceEvent> events;
  for (const auto &step : steps)
    events.insert(events.end(), step.begin(), step.end());
  if (world.size() == 1) {
    runtime::writeTraceFile(path, traceRows(session.plan(), session.commands(), events,
                                            {.originNs = runtime::findFirstStart(events)}));
    return;
  }
  const int64_t offset = measureClockOffset(world).ns,
                first = allReduceMin(world, runtime::findFirstStart(events) - offset);
  const std::string name =
      "rank " + std::to_string(world.rank()) + " of " + std::to_string(world.size());
  nlohmann::json rows =
      traceRows(session.plan(), session.commands(), events, {world.rank(), name, first + offset});
  const std::string mine = rows.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (int rank = 1; rank < world.size(); ++rank) {
    std::string theirs = broadcastText(world, rank == world.rank() ? mine : "", rank);
    if (world.rank() == 0)
      for (nlohmann::json &row : nlohmann::json::parse(theirs))
        rows.push_back(std::move(row));
  }
  if (world.rank() == 0)
    runtime::writeTraceFile(path, std::move(rows));
}

} // namespace dlc::cli

//===- Waiting.cpp - a simulated world with a given duration of collectives --===//
#include "runtime/collective/World.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace dlc::runtime {

namespace {

using Clock = std::chrono::steady_clock;

struct SimulatedNetwork {
  SimulatedWorldOptions how;
  Clock::time_point free; ///< time at which the last started collective completes
};

int openSimulatedWorld(const void *argument, dlc_engine_combine, void **world,
                       dlc_engine_place *place, char *, size_t) {
  const auto &how = *static_cast<const SimulatedWorldOptions *>(argument);
  *world = new SimulatedNetwork{how, Clock::now()};
  *place = {0, how.size, 0, how.size};
  return 0;
}

void closeSimulatedWorld(void *world) { delete static_cast<SimulatedNetwork *>(world); }

int startSimulatedCall(void *world, const dlc_engine_call *call, void **request, char *, size_t) {
  auto &line = *static_cast<SimulatedNetwork *>(world);
  uint64_t share = call->share * dtypeBytes(static_cast<DType>(call->type));
  bool wide = call->collective == DLC_COLLECTIVE_ALL_GATHER ||
              call->collective == DLC_COLLECTIVE_REDUCE_SCATTER;
  double bytes = static_cast<double>(wide ? share * static_cast<uint64_t>(line.how.size) : share);
  std::chrono::duration<double> takes(
      line.how.latencySeconds +
      (line.how.bytesPerSecond > 0 ? bytes / line.how.bytesPerSecond : 0));
  line.free =
      std::max(line.free, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
  if (call->to != call->from)
    std::memmove(call->to, call->from, share);
  if (call->collective == DLC_COLLECTIVE_ALL_GATHER)
    std::memset(static_cast<char *>(call->to) + share, 0,
                share * static_cast<uint64_t>(line.how.size - 1));
  *request = new Clock::time_point(line.free);
  return 0;
}

int testSimulatedCall(void *, void *request, int *done, char *, size_t) {
  auto *until = static_cast<Clock::time_point *>(request);
  *done = Clock::now() >= *until;
  if (*done)
    delete until;
  return 0;
}

void abortNothing(void *, const char *) {}

constexpr dlc_engine_table kWaiting = {DLC_ENGINE_TABLE_VERSION,
                                       "waiting",
                                       openSimulatedWorld,
                                       closeSimulatedWorld,
                                       startSimulatedCall,
                                       testSimulatedCall,
                                       nullptr,
                                       nullptr,
                                       abortNothing};

} // namespace

std::unique_ptr<World> createSimulatedWorld(const SimulatedWorldOptions &how) {
  return std::make_unique<World>(kWaiting, &how);
}

} // namespace dlc::runtime

//===- Watch.cpp - failure detection by heartbeats ---------------------------===//
#include "runtime/collective/Watch.h"

#include "runtime/program/Message.h"

namespace dlc::runtime {

void HeartbeatMonitor::take(const Heartbeat &heartbeat, double now) {
  heard = now;
  if (heartbeat.life != last.life || heartbeat.started != last.started ||
      heartbeat.step != last.step)
    lived = now;
  last = heartbeat;
}

std::string HeartbeatMonitor::fault(uint64_t waitingFor, double since, double now,
                                    bool gone) const {
  if (last.leaving)
    return waitingFor > last.started
               ? message("rank ", rank, " left in step ", last.step, " after ", last.started,
                         " collectives; this rank waits for collective number ", waitingFor,
                         "; all ranks must run the same number of steps")
               : "";
  if (gone)
    return message("rank ", rank, " died in step ", last.step, " (process ", last.process,
                   "): it was killed or ran out of memory; see the system log (dmesg)");
  if (now - heard > timeout)
    return message("rank ", rank, " has sent no heartbeat for ", static_cast<int64_t>(now - heard),
                   " s; its last step was ", last.step,
                   "; its process is suspended or its machine is unreachable");
  // Report a hang only if there are recent heartbeats: otherwise the rank's progress is unknown.
  bool waits = waitingFor > last.started && now - since > timeout && now - heard < timeout / 2;
  if (waits && now - lived > timeout)
    return message("rank ", rank, " hangs in step ", last.step, ": it has made no progress for ",
                   static_cast<int64_t>(now - lived),
                   " s, and other ranks wait for its collective ", last.started + 1,
                   "; increase $DLC_WORLD_TIMEOUT if the step needs more time");
  return "";
}

} // namespace dlc::runtime

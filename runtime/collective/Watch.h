//===- Watch.h - failure detection by heartbeats -----------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_WATCH_H
#define DLC_RUNTIME_COLLECTIVE_WATCH_H

#include <cstdint>
#include <string>

namespace dlc::runtime {

/// Heartbeat that a rank sends to the next rank several times a second.
struct Heartbeat {
  uint64_t machine = 0; ///< ID of machine and PID namespace (Process.h)
  int64_t process = 0;
  int64_t step = 0;
  uint64_t started = 0; ///< number of started collectives
  uint64_t life = 0;    ///< counter of signs of life: commands, calls of the world
  uint8_t leaving = 0;
};

/// Monitors the previous rank. Signs of life in its heartbeats distinguish the causes: a slow rank
/// sends heartbeats with signs of life and is not faulty, a hanging rank sends heartbeats without
/// signs of life, and a stopped rank sends no heartbeats.
class HeartbeatMonitor {
public:
  /// `now` and all later times are in seconds with an arbitrary origin.
  HeartbeatMonitor(int watchedRank, double timeoutSeconds, double now)
      : rank(watchedRank), timeout(timeoutSeconds), heard(now), lived(now) {}

  void take(const Heartbeat &heartbeat, double now);
  /// Restarts the timeouts because this process itself was stopped until now, so that the missing
  /// heartbeats are not a failure of the other rank.
  void restartTimeouts(double now) { heard = lived = now; }
  /// Returns a description of the failure, or "" if there is none. `waitingFor`: number of the
  /// collective for which this rank waits and which the watched rank must have started; `since`:
  /// start of this wait; `gone`: whether the watched process has terminated.
  std::string fault(uint64_t waitingFor, double since, double now, bool gone = false) const;
  const Heartbeat &lastHeartbeat() const { return last; }

private:
  int rank;
  double timeout, heard, lived;
  Heartbeat last;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_WATCH_H

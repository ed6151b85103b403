//===- Watch.h - whether another rank lives, by what it says ------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_WATCH_H
#define DLC_RUNTIME_COLLECTIVE_WATCH_H

#include <cstdint>
#include <string>

namespace dlc::runtime {

/// What a rank tells the next one some times a second.
struct Beat {
  uint64_t machine = 0; ///< of processes that can see each other (Process.h)
  int64_t process = 0;
  int64_t step = 0;
  uint64_t started = 0; ///< collectives
  uint64_t life = 0;    ///< signs of life: commands, calls of the world
  uint8_t leaving = 0;
};

/// One rank's view of the one before it. A rank that is busy shows signs of life, so that a slow
/// step is no fault; a stopped one sends no beats; one that hangs sends beats without signs.
class Watch {
public:
  /// Times are in seconds, from anywhere.
  Watch(int watchedRank, double timeoutSeconds, double now)
      : rank(watchedRank), timeout(timeoutSeconds), heard(now), lived(now) {}

  void take(const Beat &beat, double now);
  /// The watcher itself was stopped until now, and has no right to blame others for that time.
  void startAnew(double now) { heard = lived = now; }
  /// "" or what is wrong. `waitingFor`: the number of collectives that the watched rank must have
  /// started for this one to go on; `since`: when that wait began; `gone`: its process is no more.
  std::string fault(uint64_t waitingFor, double since, double now, bool gone = false) const;
  const Beat &beat() const { return last; }

private:
  int rank;
  double timeout, heard, lived;
  Beat last;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_WATCH_H

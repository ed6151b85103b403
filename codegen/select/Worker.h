//===- Worker.h - work that may crash, in a process of its own ------------===//
#ifndef DLC_CODEGEN_SELECT_WORKER_H
#define DLC_CODEGEN_SELECT_WORKER_H

#include <cstdint>
#include <functional>
#include <string>

namespace dlc {

/// The worker's end of the line to who started it.
class WorkerLine {
public:
  virtual ~WorkerLine() = default;
  /// Sends a message, and waits until it was dealt with: what is timed afterwards is timed alone.
  virtual void say(const std::string &message) = 0;
  /// Notes what is being worked on, for the case that it is the end. kNowhere is nobody's fault.
  virtual void at(uint32_t place) = 0;
};

constexpr uint32_t kNowhere = ~0u;

struct WorkerEnd {
  bool hung = false;         ///< it was killed for silence
  std::string death;         ///< "segmentation fault", ..; empty: it finished
  uint32_t place = kNowhere; ///< what it was working on
};

/// Runs `work` in a copy of this process, in which all memory is as it is here now, but no other
/// thread is. `heard` gets its messages, here. A worker that stays at one place for longer than
/// `silence` seconds is killed, and so it is when `stop` says so; when this process dies, it dies
/// too.
WorkerEnd runWorker(const std::function<void(WorkerLine &)> &work,
                    const std::function<void(const std::string &)> &heard, double silence,
                    const std::function<bool()> &stop = {});

} // namespace dlc
#endif

//===- Worker.h - runs work that may crash in a separate process ----------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_WORKER_H
#define DLC_CODEGEN_SELECT_MEASURE_WORKER_H

#include <cstdint>
#include <functional>
#include <string>

namespace dlc {

/// The worker process's end of the connection to the process that started it.
class WorkerConnection {
public:
  virtual ~WorkerConnection() = default;
  /// Sends a message and waits until the other process has handled it, so that this does not
  /// disturb later timings.
  virtual void say(const std::string &message) = 0;
  /// Records the index of the current work item, which is reported if the worker crashes. kNowhere:
  /// no item.
  virtual void at(uint32_t place) = 0;
};

constexpr uint32_t kNowhere = ~0u;

struct WorkerExit {
  bool hung = false; ///< whether the worker was killed because it made no progress
  /// Cause of the worker's end, such as "segmentation fault"; empty if it finished.
  std::string death;
  uint32_t place = kNowhere; ///< work item of the worker when it ended
};

/// Runs `work` in a forked copy of this process (the worker), which has the same memory but none of
/// the other threads. `heard` is called in this process with each message. The worker is killed if
/// it stays at one work item for more than `silence` seconds, if `stop` returns true, or when this
/// process ends.
WorkerExit runWorker(const std::function<void(WorkerConnection &)> &work,
                     const std::function<void(const std::string &)> &heard, double silence,
                     const std::function<bool()> &stop = {});

} // namespace dlc
#endif

//===- Events.h - what streams tell one another -------------------------------===//
#ifndef DLC_RUNTIME_SESSION_EVENTS_H
#define DLC_RUNTIME_SESSION_EVENTS_H

#include "runtime/device/Device.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace dlc::runtime {

/// A wait that was given up because another stream has failed.
struct Abandoned {};

/// The events of a run. A CPU's event has come when it is recorded. A device's event is first
/// recorded in its stream, which other streams of that kind of device wait for, and the host too
/// where it must.
class Events {
public:
  explicit Events(uint32_t count) : list(count) {}
  ~Events();
  Events(const Events &) = delete;

  /// Before a run.
  void reset();
  /// On an error: all who wait stop.
  void abandon();

  void record(uint32_t event);
  void recordOn(uint32_t event, Device &device, void *stream);
  /// The calling thread waits until all before the event is done.
  void wait(uint32_t event);
  /// The stream does.
  void waitOn(uint32_t event, Device &device, void *stream);
  bool hasCome(uint32_t event);

private:
  struct Event {
    bool recorded = false;
    Device *device = nullptr; ///< null: a CPU's
    void *handle = nullptr;
  };
  const Event &untilRecorded(uint32_t event);

  std::mutex mutex;
  std::condition_variable changed;
  bool abandoned = false;
  std::vector<Event> list;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_EVENTS_H

//===- Events.h - synchronization between streams ----------------------------===//
#ifndef DLC_RUNTIME_SESSION_EVENTS_H
#define DLC_RUNTIME_SESSION_EVENTS_H

#include "runtime/device/Device.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace dlc::runtime {

/// Thrown by a wait that is abandoned because another stream has failed.
struct Abandoned {};

/// The events of a run. An event of a CPU stream is complete when it is recorded. An event of a
/// device stream is first recorded in this stream; streams of the same device kind wait for it on
/// the device, other streams and the host wait in a host thread.
class Events {
public:
  explicit Events(uint32_t count) : list(count) {}
  ~Events();
  Events(const Events &) = delete;

  /// Resets all events, before a run.
  void reset();
  /// Makes all waits for events throw Abandoned, after a stream has failed.
  void abandon();

  void record(uint32_t event);
  void recordOn(uint32_t event, Device &device, void *stream);
  /// Blocks the calling thread until all work before the event is done.
  void wait(uint32_t event);
  /// Makes a device stream wait for the event. The calling thread waits until the event is
  /// recorded; if the event belongs to another kind of device, it waits until the event is
  /// complete.
  void waitOn(uint32_t event, Device &device, void *stream);
  bool isRecorded(uint32_t event);

private:
  struct Event {
    bool recorded = false;
    Device *device = nullptr; ///< null for an event of a CPU stream
    void *handle = nullptr;
  };
  const Event &waitUntilRecorded(uint32_t event);

  std::mutex mutex;
  std::condition_variable changed;
  bool abandoned = false;
  std::vector<Event> list;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_EVENTS_H

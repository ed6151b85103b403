//===- Event.cpp - events that order the work of streams -------------------===//
#include "runtime/device/Event.h"

#include <map>
#include <vector>

namespace dlc::runtime {

namespace {

/// The events of one device. Events are never destroyed, because a device is never closed.
struct EventPool {
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceEvent>> all;
  std::vector<DeviceEvent *> unused;

  static EventPool &of(Device &device) {
    static std::mutex mutex;
    static auto &pools = *new std::map<const Device *, EventPool>;
    static thread_local std::pair<const Device *, EventPool *> last;
    if (last.first == &device)
      return *last.second;
    std::lock_guard lock(mutex);
    last = {&device, &pools[&device]};
    return *last.second;
  }

  DeviceEvent &take(Device &device) {
    std::lock_guard lock(mutex);
    if (unused.empty()) {
      all.push_back(std::make_unique<DeviceEvent>(device));
      unused.reserve(all.size());
      return *all.back();
    }
    DeviceEvent &event = *unused.back();
    unused.pop_back();
    return event;
  }

  void giveBack(DeviceEvent &event) {
    std::lock_guard lock(mutex);
    unused.push_back(&event); // does not allocate, because take() has reserved the capacity
  }
};

} // namespace

DeviceEvent::DeviceEvent(Device &device) : device(device) {
  device.call(device.table.event_create, &handle);
}

std::shared_ptr<DeviceEvent> DeviceEvent::recordOn(Device &device, void *stream) {
  EventPool &pool = EventPool::of(device);
  std::shared_ptr<DeviceEvent> event(&pool.take(device),
                                     [&pool](DeviceEvent *one) { pool.giveBack(*one); });
  event->recorded = stream;
  device.call(device.table.event_record, event->handle, stream);
  return event;
}

void DeviceEvent::makeWait(void *stream) const {
  device.call(device.table.event_wait, stream, handle);
}

bool DeviceEvent::isDone() const {
  // Device tables have no function to query an event, but event_elapsed fails until both events are
  // complete.
  float milliseconds = 0;
  char error[256];
  return device.table.event_elapsed(device.handle, handle, handle, &milliseconds, error,
                                    sizeof error) == 0;
}

void DeviceEvent::synchronize() const { device.call(device.table.event_synchronize, handle); }

void synchronizeEvents(Device &device) {
  EventPool &pool = EventPool::of(device);
  std::vector<DeviceEvent *> events;
  {
    std::lock_guard lock(pool.mutex);
    for (const auto &event : pool.all)
      events.push_back(event.get());
  }
  for (DeviceEvent *event : events)
    event->synchronize();
}

} // namespace dlc::runtime

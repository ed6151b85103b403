//===- Events.cpp - synchronization between streams --------------------------===//
#include "runtime/session/Events.h"

namespace dlc::runtime {

Events::~Events() {
  for (const Event &event : list)
    if (event.handle)
      event.device->table.event_destroy(event.device->handle, event.handle);
}

void Events::reset() {
  std::lock_guard lock(mutex);
  abandoned = false;
  for (Event &event : list)
    event.recorded = false;
}

void Events::abandon() {
  std::lock_guard lock(mutex);
  abandoned = true;
  changed.notify_all();
}

void Events::record(uint32_t event) {
  std::lock_guard lock(mutex);
  list[event].recorded = true;
  changed.notify_all();
}

void Events::recordOn(uint32_t number, Device &device, void *stream) {
  Event &event =
      list[number]; // needs no lock: no other thread accesses the event before it is recorded
  if (!event.handle) {
    device.call(device.table.event_create, &event.handle);
    event.device = &device;
  }
  device.call(device.table.event_record, event.handle, stream);
  record(number);
}

const Events::Event &Events::waitUntilRecorded(uint32_t number) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return list[number].recorded || abandoned; });
  if (abandoned)
    throw Abandoned();
  return list[number];
}

void Events::wait(uint32_t number) {
  const Event &event = waitUntilRecorded(number);
  if (event.device)
    event.device->call(event.device->table.event_synchronize, event.handle);
}

void Events::waitOn(uint32_t number, Device &device, void *stream) {
  const Event &event = waitUntilRecorded(number);
  if (event.device && event.device->name.kind == device.name.kind)
    device.call(device.table.event_wait, stream, event.handle);
  else if (event.device)
    event.device->call(event.device->table.event_synchronize, event.handle);
}

bool Events::isRecorded(uint32_t number) {
  std::lock_guard lock(mutex);
  return list[number].recorded;
}

} // namespace dlc::runtime

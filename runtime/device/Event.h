//===- Event.h - events that order the work of streams ---------------------===//
#ifndef DLC_RUNTIME_DEVICE_EVENT_H
#define DLC_RUNTIME_DEVICE_EVENT_H

#include "runtime/device/Device.h"

#include <memory>

namespace dlc::runtime {

/// Event: a point in the work of a stream for which other streams and the host can wait. Events are
/// pooled, because creating an event takes more time than recording it.
class DLC_EXPORT DeviceEvent {
public:
  /// Records an event after the work that the stream has so far, and returns the event. The event
  /// returns to the pool when the last owner releases it.
  static std::shared_ptr<DeviceEvent> recordOn(Device &device, void *stream);
  explicit DeviceEvent(Device &device);
  DeviceEvent(const DeviceEvent &) = delete;
  DeviceEvent &operator=(const DeviceEvent &) = delete;

  Device &device;
  /// Stream in which the event was recorded. The stream may have been destroyed since.
  void *stream() const { return recorded; }
  /// Makes a stream wait for the event; the host does not wait. The stream may be of another device
  /// of the same kind.
  void makeWait(void *stream) const;
  /// Blocks the calling thread until the work before the event is done.
  void synchronize() const;
  /// Returns whether the work before the event is done.
  bool isDone() const;

private:
  void *handle = nullptr;
  void *recorded = nullptr;
};

/// Blocks the calling thread until the work before every event recorded on the device is done.
DLC_EXPORT void synchronizeEvents(Device &device);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_EVENT_H

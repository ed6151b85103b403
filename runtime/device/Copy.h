//===- Copy.h - asynchronous copies between devices --------------------------===//
#ifndef DLC_RUNTIME_DEVICE_COPY_H
#define DLC_RUNTIME_DEVICE_COPY_H

#include "runtime/device/Device.h"

#include <future>

namespace dlc::runtime {

/// An asynchronous copy between devices. Source and destination must not be modified or freed until
/// wait() returns.
class DLC_EXPORT PendingCopy {
public:
  PendingCopy(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes);
  /// Waits for the copy.
  ~PendingCopy();
  PendingCopy(const PendingCopy &) = delete;
  PendingCopy &operator=(const PendingCopy &) = delete;

  /// Waits for the copy. Throws the error if it failed.
  void wait();

private:
  /// Result of the copy, if no device can copy directly and a worker thread of the target device
  /// executes the copy.
  std::future<void> done;
  /// If a device copies directly: this device, and the event that is recorded after the copy in a
  /// stream of the device.
  Device *worker = nullptr;
  void *event = nullptr;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_COPY_H

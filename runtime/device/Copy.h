//===- Copy.h - copies that go on while their callers do something else --------===//
#ifndef DLC_RUNTIME_DEVICE_COPY_H
#define DLC_RUNTIME_DEVICE_COPY_H

#include "runtime/device/Device.h"

#include <future>

namespace dlc::runtime {

/// Bytes on their way from one place to another; both are left alone until wait() has returned.
class DLC_EXPORT PendingCopy {
public:
  PendingCopy(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes);
  /// Waits.
  ~PendingCopy();
  PendingCopy(const PendingCopy &) = delete;
  PendingCopy &operator=(const PendingCopy &) = delete;

  /// Throws what went wrong.
  void wait();

private:
  /// Where no device does it, a thread of the target's copies.
  std::future<void> done;
  /// Otherwise an event behind the copy, in a stream of that device.
  Device *worker = nullptr;
  void *event = nullptr;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_COPY_H

//===- Device.h - devices by name, and memory on them ------------------------===//
#ifndef DLC_RUNTIME_DEVICE_DEVICE_H
#define DLC_RUNTIME_DEVICE_DEVICE_H

#include "dlc/Export.h"
#include "runtime/kind/Kind.h"
#include "runtime/program/Message.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// Allocator of device memory that a user installs in place of the device table's functions, so
/// that several libraries in the process share one pool. Implementations must be thread-safe.
class DLC_EXPORT DeviceAllocator {
public:
  virtual ~DeviceAllocator();
  /// Returns memory for work in the stream, aligned to at least 256 bytes. Throws
  /// dlc::MemoryError.
  virtual void *allocate(uint64_t bytes, void *stream) = 0;
  /// Releases memory. Work that was enqueued in the stream before this call may still use it.
  virtual void release(void *address, uint64_t bytes, void *stream) noexcept = 0;
};

/// An open device. Each device is opened once per process and never closed.
class DLC_EXPORT Device {
public:
  Device(DeviceName name, const DeviceKind &kind, void *handle)
      : name(std::move(name)), kind(kind), table(*kind.table), handle(handle) {}
  Device(const Device &) = delete;

  const DeviceName name;
  const DeviceKind &kind;
  const dlc_device_table &table;
  void *const handle;

  /// Calls a function of the table whose first argument is the device handle. Throws dlc::Error
  /// with the function's message if it fails.
  template <typename... Parameters, typename... Arguments>
  void call(int (*function)(void *, Parameters...), Arguments... arguments) const {
    char error[1024] = "";
    if (function(handle, arguments..., error, sizeof error) != 0)
      fail(name.text(), ": ", error);
  }

  dlc_device_properties properties() const;
  /// Returns whether the host can access the device's memory directly by its address.
  bool hasHostMemory() const { return kind.can(DLC_DEVICE_HOST_MEMORY); }
  /// Returns whether the address is aligned as the device's programs require: GPU kernels use
  /// 16-byte vector loads.
  bool isAligned(const void *address) const {
    return kind.can(DLC_DEVICE_HOST_CODE) || reinterpret_cast<uintptr_t>(address) % 16 == 0;
  }
  /// Returns the stream for synchronous copies; there is one per device, shared by the whole
  /// process.
  void *copyStream();
  /// Returns the allocator of the device's memory; null if the device table's functions are used.
  std::shared_ptr<DeviceAllocator> allocator();
  /// Sets the allocator for later allocations. Memory is released by the allocator that created it.
  void setAllocator(std::shared_ptr<DeviceAllocator> given);

private:
  std::mutex mutex;
  void *stream = nullptr;
  std::shared_ptr<DeviceAllocator> installed;
};

/// Returns the device with this name, which is opened at the first call. Throws dlc::Error if there
/// is no such device. The message lists the available devices and says how to get one.
DLC_EXPORT Device &openDevice(const DeviceName &name);
/// Returns the host as a device.
DLC_EXPORT Device &hostDevice();

/// Returns the number of devices of a kind, and sets `why` to the reason if there are none. Never
/// throws.
DLC_EXPORT int deviceCount(const std::string &kind, std::string *why = nullptr);

/// Returns a human-readable report of the libraries that a device kind needs: where each was found,
/// or what is missing.
DLC_EXPORT std::string describeLibraries(const std::string &kind);

/// Returns whether bytes can be copied between the devices without a staging copy on the host.
bool canCopyDirectly(const Device &to, const Device &from);

/// Returns the direction (DLC_COPY_...) for the `copy` function of a device table. The devices must
/// be neighbors (canCopyDirectly).
int copyDirection(const Device &to, const Device &from);

/// Returns the device whose streams copy bytes between neighbors (canCopyDirectly).
Device &copyingDevice(Device &to, Device &from);

/// Enqueues a copy between neighbors in a stream of copyingDevice().
void enqueueCopy(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes,
                 void *stream);

/// Copies bytes synchronously between any two devices.
DLC_EXPORT void copyBytes(void *to, Device &toDevice, const void *from, Device &fromDevice,
                          uint64_t bytes);

/// Owning handle of a memory block on a device.
class DLC_EXPORT DeviceMemory {
public:
  DeviceMemory() = default;
  /// Allocates zeroed memory. Throws dlc::MemoryError if the allocation fails; `purpose` is part of
  /// the message.
  DeviceMemory(Device &device, uint64_t bytes, const char *purpose);
  /// Allocates pinned host memory, which the device copies from and to without staging.
  static DeviceMemory pinned(Device &device, uint64_t bytes, const char *purpose);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;

  char *data() const { return static_cast<char *>(address); }
  uint64_t size() const { return bytes; }
  Device *device() const { return owner; }

private:
  Device *owner = nullptr;
  std::shared_ptr<DeviceAllocator> source; ///< null if allocated by the device table's functions
  bool isPinned = false;
  void *address = nullptr;
  uint64_t bytes = 0;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_DEVICE_H

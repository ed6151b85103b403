//===- Device.h - devices by name, and memory on them -------------------------===//
#ifndef DLC_RUNTIME_DEVICE_DEVICE_H
#define DLC_RUNTIME_DEVICE_DEVICE_H

#include "dlc/Export.h"
#include "runtime/kind/Kind.h"
#include "runtime/program/Message.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// An open device. Devices are opened once and stay open.
class DLC_EXPORT Device {
public:
  Device(DeviceName name, const DeviceKind &kind, void *handle)
      : name(std::move(name)), kind(kind), table(*kind.table), handle(handle) {}
  Device(const Device &) = delete;

  const DeviceName name;
  const DeviceKind &kind;
  const dlc_device_table &table;
  void *const handle;

  /// Calls a function of the table whose first argument is the device; throws dlc::Error with what
  /// it says.
  template <typename... Parameters, typename... Arguments>
  void call(int (*function)(void *, Parameters...), Arguments... arguments) const {
    char error[1024] = "";
    if (function(handle, arguments..., error, sizeof error) != 0)
      fail(name.text(), ": ", error);
  }

  dlc_device_properties properties() const;
  /// Whether the host reads and writes its memory by its address.
  bool hasHostMemory() const { return kind.can(DLC_DEVICE_HOST_MEMORY); }
  /// A stream for copies that somebody waits for; one for the whole process.
  void *copyStream();

private:
  std::mutex mutex;
  void *stream = nullptr;
};

/// Throws dlc::Error where there is no such device: what there is, and how to get one.
DLC_EXPORT Device &openDevice(const DeviceName &name);
/// The host's memory.
DLC_EXPORT Device &hostDevice();

/// How many there are of a kind; why there is none goes to `why`. Never throws.
DLC_EXPORT int deviceCount(const std::string &kind, std::string *why = nullptr);

/// For people to read: where the libraries that a kind of device needs were found, or what is
/// missing.
DLC_EXPORT std::string describeLibraries(const std::string &kind);

/// Whether bytes go between them without a stop on the host.
bool areNeighbours(const Device &to, const Device &from);

/// As the table's `copy` takes it: which way bytes go between neighbours.
int copyDirection(const Device &to, const Device &from);

/// Bytes from anywhere to anywhere, done when it returns.
DLC_EXPORT void copyBytes(void *to, Device &toDevice, const void *from, Device &fromDevice,
                          uint64_t bytes);

/// Memory on a device, given back at the end.
class DLC_EXPORT DeviceMemory {
public:
  DeviceMemory() = default;
  /// Throws dlc::Error where there is not so much; `purpose` names it in the message. Zeroed.
  DeviceMemory(Device &device, uint64_t bytes, const char *purpose);
  /// Host memory that a device copies from and to without a detour.
  static DeviceMemory pinned(Device &device, uint64_t bytes, const char *purpose);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;

  char *data() const { return static_cast<char *>(address); }
  uint64_t size() const { return bytes; }
  Device *device() const { return owner; }

private:
  Device *owner = nullptr;
  bool isPinned = false;
  void *address = nullptr;
  uint64_t bytes = 0;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_DEVICE_H

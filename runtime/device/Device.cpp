//===- Device.cpp - devices by name, and memory on them -----------------------===//
#include "runtime/device/Device.h"

#include "dlc/MemoryError.h"
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace dlc::runtime {

int deviceCount(const std::string &kind, std::string *why) {
  const DeviceKind &found = deviceKind(kind);
  char error[1024] = "";
  int count = found.table ? found.table->count(error, sizeof error) : 0;
  if (why)
    *why = found.table ? error : found.why;
  return count;
}

std::string describeLibraries(const std::string &kind) {
  const DeviceKind &found = deviceKind(kind);
  if (!found.table || !found.table->report)
    return found.why.empty() ? "" : found.why + "\n";
  std::string text(16384, '\0');
  found.table->report(text.data(), text.size());
  text.resize(std::strlen(text.c_str()));
  return text;
}

Device &openDevice(const DeviceName &name) {
  static std::mutex mutex;
  // Never destroyed: device memory may outlive every static object.
  static auto &open = *new std::map<std::string, std::unique_ptr<Device>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Device> &device = open[name.text()];
  if (device)
    return *device;
  std::string why;
  int count = deviceCount(name.kind, &why);
  if (name.ordinal >= count) {
    std::string text = name.text();
    open.erase(text);
    if (count == 0)
      fail("device not found: ", text, ": ", why.empty() ? "none was found" : why);
    fail("device not found: ", text, ": ", count, " of kind ", name.kind, " are available, ",
         DeviceName{name.kind, 0}.text(), " to ", DeviceName{name.kind, count - 1}.text(),
         why.empty() ? "" : "; ", why);
  }
  const DeviceKind &kind = deviceKind(name.kind);
  void *handle = nullptr;
  char error[1024] = "";
  if (kind.table->open(name.ordinal, &handle, error, sizeof error) != 0) {
    std::string text = name.text();
    open.erase(text);
    fail("cannot open device ", text, ": ", error);
  }
  device = std::make_unique<Device>(name, kind, handle);
  return *device;
}

Device &hostDevice() {
  static Device &host = openDevice({});
  return host;
}

dlc_device_properties Device::properties() const {
  dlc_device_properties properties{};
  call(table.properties, &properties);
  return properties;
}

void *Device::copyStream() {
  std::lock_guard lock(mutex);
  if (!stream)
    call(table.stream_create, &stream);
  return stream;
}

DeviceAllocator::~DeviceAllocator() = default;

std::shared_ptr<DeviceAllocator> Device::allocator() {
  std::lock_guard lock(mutex);
  return installed;
}

void Device::setAllocator(std::shared_ptr<DeviceAllocator> given) {
  std::lock_guard lock(mutex);
  std::swap(installed, given);
}

int copyDirection(const Device &to, const Device &from) {
  return &from == &to           ? DLC_COPY_WITHIN
         : from.hasHostMemory() ? DLC_COPY_HOST_TO_DEVICE
         : to.hasHostMemory()   ? DLC_COPY_DEVICE_TO_HOST
                                : DLC_COPY_FROM_PEER;
}

bool canCopyDirectly(const Device &to, const Device &from) {
  return to.hasHostMemory() || from.hasHostMemory() || &to.kind == &from.kind;
}

Device &copyingDevice(Device &to, Device &from) { return to.hasHostMemory() ? from : to; }

void enqueueCopy(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes,
                 void *stream) {
  const Device &worker = copyingDevice(toDevice, fromDevice);
  const int direction = copyDirection(toDevice, fromDevice);
  void *peer = direction == DLC_COPY_FROM_PEER ? fromDevice.handle : nullptr;
  worker.call(worker.table.copy, stream, to, from, bytes, direction, peer);
}

void copyBytes(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes) {
  if (bytes == 0 || to == from)
    return;
  if (toDevice.hasHostMemory() && fromDevice.hasHostMemory()) {
    std::memmove(to, from, bytes);
    return;
  }
  if (!canCopyDirectly(toDevice, fromDevice)) {
    std::vector<char> between(bytes);
    copyBytes(between.data(), hostDevice(), from, fromDevice, bytes);
    return copyBytes(to, toDevice, between.data(), hostDevice(), bytes);
  }
  Device &worker = copyingDevice(toDevice, fromDevice);
  void *stream = worker.copyStream();
  enqueueCopy(to, toDevice, from, fromDevice, bytes, stream);
  worker.call(worker.table.stream_synchronize, stream);
}

// The delegation makes the destructor release the memory if the fill fails.
DeviceMemory::DeviceMemory(Device &device, uint64_t bytes, const char *purpose) : DeviceMemory() {
  if (bytes == 0)
    return;
  char error[1024] = "";
  source = device.allocator();
  if (source)
    address = source->allocate(bytes, device.copyStream());
  else if (device.table.allocate(device.handle, bytes, &address, error, sizeof error) != 0)
    throw MemoryError(message(device.name.text(), ": cannot allocate ", bytes, " bytes for ",
                              purpose, ": ", error));
  owner = &device;
  this->bytes = bytes;
  if (!source && device.kind.can(DLC_DEVICE_ZEROED))
    return;
  void *stream = device.copyStream();
  device.call(device.table.fill, stream, address, uint8_t(0), bytes);
  device.call(device.table.stream_synchronize, stream);
}

DeviceMemory DeviceMemory::pinned(Device &device, uint64_t bytes, const char *purpose) {
  DeviceMemory memory;
  if (bytes == 0)
    return memory;
  char error[1024] = "";
  if (device.table.allocate_pinned(device.handle, bytes, &memory.address, error, sizeof error) != 0)
    throw MemoryError(message(kHostName, ": cannot allocate ", bytes, " bytes for ", purpose,
                              ", pinned for ", device.name.text(), ": ", error));
  memory.owner = &device;
  memory.isPinned = true;
  memory.bytes = bytes;
  std::memset(memory.address, 0, bytes);
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (!address)
    return;
  if (source) {
    source->release(address, bytes, owner->copyStream());
    return;
  }
  auto release = isPinned ? owner->table.release_pinned : owner->table.release;
  release(owner->handle, address);
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(source, other.source);
  std::swap(isPinned, other.isPinned);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

} // namespace dlc::runtime

//===- Memory.cpp - device memory, pinned host memory, copies and fills ------===//
#include "runtime/device/cuda/Device.h"

namespace dlc::cuda {

namespace {

Address addressOf(const void *pointer) { return reinterpret_cast<Address>(pointer); }
Stream streamOf(void *stream) { return static_cast<Stream>(stream); }

int allocate(void *handle, uint64_t bytes, void **to, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  *to = nullptr;
  if (bytes == 0)
    return 0;
  CurrentContext current(device);
  Address address = 0;
  Result result = driver().allocate(&address, bytes);
  if (result == OutOfMemory) {
    size_t free = 0, total = 0;
    driver().memoryInfo(&free, &total);
    return report.fail(device.name() + ": out of device memory: required: " + formatBytes(bytes) +
                       "; found: " + formatBytes(free) + " of its " + formatBytes(total) +
                       " free; reduce the batch size, release other sessions, or list the "
                       "processes that use the device (nvidia-smi)");
  }
  *to = reinterpret_cast<void *>(address);
  return report.check(result, device, "allocate memory");
}

void release(void *handle, void *address) {
  if (!address)
    return;
  CurrentContext current(deviceOf(handle));
  driver().release(addressOf(address));
}

int allocatePinned(void *handle, uint64_t bytes, void **to, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  *to = nullptr;
  if (bytes == 0)
    return 0;
  CurrentContext current(device);
  Result result = driver().hostAllocate(to, bytes, HostPortable);
  if (result == OutOfMemory)
    return report.fail("out of pinned host memory: " + formatBytes(bytes) + " for " +
                       device.name() + "; pin less memory, or raise the limit (ulimit -l)");
  return report.check(result, device, "pin host memory");
}

void releasePinned(void *handle, void *address) {
  if (!address)
    return;
  CurrentContext current(deviceOf(handle));
  driver().hostRelease(address);
}

/// Enables direct peer-to-peer copies between two GPUs if the hardware supports them.
void enablePeerAccess(Device &device, const Device &peer) {
  std::lock_guard<std::mutex> guard(device.mutex);
  if (!device.peers.insert(peer.index).second)
    return;
  int can = 0;
  driver().canAccessPeer(&can, device.ordinal, peer.ordinal);
  if (can)
    driver().enablePeer(peer.context, 0);
}

int copy(void *handle, void *stream, void *to, const void *from, uint64_t bytes, int direction,
         void *peer, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  if (bytes == 0)
    return 0;
  const Driver &d = driver();
  CurrentContext current(device);
  switch (direction) {
  case DLC_COPY_HOST_TO_DEVICE:
    return report.check(d.copyToDevice(addressOf(to), from, bytes, streamOf(stream)), device,
                        "copy from the host");
  case DLC_COPY_DEVICE_TO_HOST:
    return report.check(d.copyToHost(to, addressOf(from), bytes, streamOf(stream)), device,
                        "copy to the host");
  case DLC_COPY_WITHIN:
    return report.check(d.copyWithin(addressOf(to), addressOf(from), bytes, streamOf(stream)),
                        device, "copy within itself");
  case DLC_COPY_FROM_PEER:
    if (!peer)
      return report.fail("a copy to " + device.name() +
                         " from another device requires the source device");
    enablePeerAccess(device, deviceOf(peer));
    return report.check(d.copyPeer(addressOf(to), device.context, addressOf(from),
                                   deviceOf(peer).context, bytes, streamOf(stream)),
                        device, "copy from another device");
  default:
    return report.fail("required: a copy direction from 0 to 3; found: " +
                       std::to_string(direction));
  }
}

int fill(void *handle, void *stream, void *to, uint8_t byte, uint64_t bytes, char *error,
         size_t size) {
  Device &device = deviceOf(handle);
  if (bytes == 0)
    return 0;
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().fill(addressOf(to), byte, bytes, streamOf(stream)),
                                        device, "fill memory");
}

} // namespace

void setMemoryFunctions(dlc_device_table &table) {
  table.allocate = allocate;
  table.release = release;
  table.allocate_pinned = allocatePinned;
  table.release_pinned = releasePinned;
  table.copy = copy;
  table.fill = fill;
}

} // namespace dlc::cuda

//===- Driver.cpp - loads the emulated driver and calls its functions ----------===//
#include "test/python/gpu/torch_device/Driver.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlc_torch_device {

namespace {

/// Returns a function of the driver by its name.
void *find(const char *name) {
  static void *library = [] {
    const char *path = std::getenv("DLC_CUDA_DRIVER");
    if (!path)
      throw std::runtime_error("$DLC_CUDA_DRIVER: required: the path of libdlc_emulated_gpu.so; "
                               "found: nothing; set the variable");
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      throw std::runtime_error(dlerror());
    return opened;
  }();
  void *found = dlsym(library, name);
  if (!found)
    throw std::runtime_error(std::string("the driver has no function ") + name);
  return found;
}

void check(int result, const char *name) {
  if (result)
    throw std::runtime_error(std::string(name) + " failed with the error " +
                             std::to_string(result));
}

/// Calls a function of the driver. The types of the arguments must be those of its declaration.
template <typename... Arguments> void call(const char *name, Arguments... arguments) {
  check(reinterpret_cast<int (*)(Arguments...)>(find(name))(arguments...), name);
}

/// Returns the primary contexts of all devices, which are retained until the process ends.
const std::vector<Handle> &contexts() {
  static const std::vector<Handle> retained = [] {
    call("cuInit", 0u);
    int count = 0;
    call("cuDeviceGetCount", &count);
    std::vector<Handle> found(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
      call("cuDevicePrimaryCtxRetain", &found[static_cast<size_t>(i)], i);
    return found;
  }();
  return retained;
}

thread_local int chosenDevice = 0;
thread_local std::map<int, Handle> chosenStreams;

} // namespace

namespace driver {

int deviceCount() { return int(contexts().size()); }

Current::Current(int device) { call("cuCtxPushCurrent_v2", contexts().at(size_t(device))); }
Current::~Current() {
  Handle popped = nullptr;
  reinterpret_cast<int (*)(Handle *)>(find("cuCtxPopCurrent_v2"))(&popped);
}

Address allocate(size_t bytes) {
  Address made = 0;
  call("cuMemAlloc_v2", &made, bytes);
  return made;
}

void *allocatePinned(size_t bytes) {
  void *made = nullptr;
  call("cuMemHostAlloc", &made, bytes, 0u);
  return made;
}

void releasePinned(void *memory) { call("cuMemFreeHost", memory); }

void copyFromHost(Address to, const void *from, size_t bytes, Handle stream) {
  call("cuMemcpyHtoDAsync_v2", to, from, bytes, stream);
}

void copyToHost(void *to, Address from, size_t bytes, Handle stream) {
  call("cuMemcpyDtoHAsync_v2", to, from, bytes, stream);
}

void copyWithin(Address to, Address from, size_t bytes, Handle stream) {
  call("cuMemcpyDtoDAsync_v2", to, from, bytes, stream);
}

Handle createStream() {
  Handle made = nullptr;
  call("cuStreamCreate", &made, 1u);
  return made;
}

void synchronize(Handle stream) { call("cuStreamSynchronize", stream); }

Handle createEvent() {
  Handle made = nullptr;
  call("cuEventCreate", &made, 0u);
  return made;
}

void destroyEvent(Handle event) { call("cuEventDestroy_v2", event); }
void record(Handle event, Handle stream) { call("cuEventRecord", event, stream); }
void wait(Handle stream, Handle event) { call("cuStreamWaitEvent", stream, event, 0u); }
void synchronizeEvent(Handle event) { call("cuEventSynchronize", event); }

bool hasPassed(Handle event) {
  constexpr int kNotReady = 600;
  const int result = reinterpret_cast<int (*)(Handle)>(find("cuEventQuery"))(event);
  if (result != kNotReady)
    check(result, "cuEventQuery");
  return result != kNotReady;
}

} // namespace driver

int currentDevice() { return chosenDevice; }
void setCurrentDevice(int device) { chosenDevice = device; }

Handle currentStream(int device) {
  auto found = chosenStreams.find(device);
  return found == chosenStreams.end() ? kDefaultStream : found->second;
}

void setCurrentStream(int device, Handle stream) { chosenStreams[device] = stream; }

} // namespace dlc_torch_device

//===- Table.cpp - device table of the host and of virtual CPU devices -------===//
//
// cpu is the host. cpu:1, cpu:2 and so on are virtual devices: they also run on the host's CPU, but
// have separate memory mappings, so that programs for several devices can be tested on any machine.
// Their streams execute work synchronously; a session runs the kernels itself. $DLC_CPU_DEVICES is
// the number of devices (default 8), $DLC_CPU_MEMORY the memory size in bytes of each virtual
// device.
//
//===---------------------------------------------------------------------------===//
#include "dlc/device.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

extern "C" const dlc_device_table *dlc_cpu_device_table(char *error, size_t size);

namespace dlc::runtime {

namespace {

uint64_t readEnvNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

uint64_t getMachineMemoryBytes() {
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
}

struct CpuDevice {
  int ordinal = 0;
  std::mutex mutex;
  uint64_t used = 0;
  std::map<void *, Block> blocks;

  uint64_t limit() const {
    return ordinal == 0 ? getMachineMemoryBytes()
                        : readEnvNumber("DLC_CPU_MEMORY", getMachineMemoryBytes());
  }
};

/// Stream of a CPU device. It has no state: work submitted to the stream is executed immediately.
struct CpuStream {};
struct CpuEvent {
  std::chrono::steady_clock::time_point when;
};

int say(char *error, size_t size, const std::string &text) {
  if (size)
    std::snprintf(error, size, "%s", text.c_str());
  return 1;
}

CpuDevice &deviceAt(void *device) { return *static_cast<CpuDevice *>(device); }

int countDevices(char *error, size_t size) {
  say(error, size, "set DLC_CPU_DEVICES to increase the number");
  return static_cast<int>(std::clamp<uint64_t>(readEnvNumber("DLC_CPU_DEVICES", 8), 1, 64));
}

int open(int ordinal, void **device, char *, size_t) {
  auto *made = new CpuDevice;
  made->ordinal = ordinal;
  *device = made;
  return 0;
}

void close(void *device) { delete &deviceAt(device); }

int getProperties(void *device, dlc_device_properties *properties, char *, size_t) {
  CpuDevice &cpu = deviceAt(device);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name,
                cpu.ordinal ? "virtual device %d on the CPU" : "CPU", cpu.ordinal);
  std::lock_guard lock(cpu.mutex);
  properties->total_bytes = cpu.limit();
  properties->free_bytes =
      cpu.ordinal ? cpu.limit() - std::min(cpu.used, cpu.limit())
                  : uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  properties->multiprocessors = hostThreads();
  return 0;
}

int allocate(void *device, uint64_t bytes, void **address, char *error, size_t size) {
  CpuDevice &cpu = deviceAt(device);
  *address = nullptr;
  if (bytes == 0)
    return 0;
  std::lock_guard lock(cpu.mutex);
  if (bytes > cpu.limit() - std::min(cpu.used, cpu.limit()))
    return say(error, size,
               message("the device has ", cpu.limit(), " bytes, of which ", cpu.used,
                       " are in use; release memory, or reduce the batch size"));
  try {
    Block block(format::alignUp(bytes, format::kPage), "device memory");
    *address = block.data();
    cpu.used += block.size();
    cpu.blocks.emplace(*address, std::move(block));
    return 0;
  } catch (const std::exception &exception) {
    return say(error, size, exception.what());
  }
}

void release(void *device, void *address) {
  CpuDevice &cpu = deviceAt(device);
  std::lock_guard lock(cpu.mutex);
  auto found = cpu.blocks.find(address);
  if (found == cpu.blocks.end())
    return;
  cpu.used -= found->second.size();
  cpu.blocks.erase(found);
}

int streamCreate(void *, void **stream, char *, size_t) {
  *stream = new CpuStream;
  return 0;
}
void streamDestroy(void *, void *stream) { delete static_cast<CpuStream *>(stream); }
int streamSynchronize(void *, void *, char *, size_t) { return 0; }

int eventCreate(void *, void **event, char *, size_t) {
  *event = new CpuEvent{};
  return 0;
}
void eventDestroy(void *, void *event) { delete static_cast<CpuEvent *>(event); }
int eventRecord(void *, void *event, void *, char *, size_t) {
  static_cast<CpuEvent *>(event)->when = std::chrono::steady_clock::now();
  return 0;
}
int eventWait(void *, void *, void *, char *, size_t) { return 0; }
int eventSynchronize(void *, void *, char *, size_t) { return 0; }
int eventElapsed(void *, void *from, void *to, float *milliseconds, char *, size_t) {
  std::chrono::duration<float, std::milli> time =
      static_cast<CpuEvent *>(to)->when - static_cast<CpuEvent *>(from)->when;
  *milliseconds = time.count();
  return 0;
}

int copy(void *, void *, void *to, const void *from, uint64_t bytes, int, void *, char *, size_t) {
  if (bytes)
    std::memmove(to, from, bytes);
  return 0;
}
int fill(void *, void *, void *to, uint8_t byte, uint64_t bytes, char *, size_t) {
  if (bytes)
    std::memset(to, byte, bytes);
  return 0;
}

int run(void *, void *, dlc_device_work work, void *context, void *const *buffers, size_t,
        char *error, size_t size) {
  return work(context, buffers, error, size);
}

void protect(void *device, void *address, int accessible) {
  CpuDevice &cpu = deviceAt(device);
  std::lock_guard lock(cpu.mutex);
  auto found = cpu.blocks.find(address);
  if (found != cpu.blocks.end())
    mprotect(address, found->second.size(), accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

} // namespace

} // namespace dlc::runtime

const dlc_device_table *dlc_cpu_device_table(char *, size_t) {
  using namespace dlc::runtime;
  static const dlc_device_table table = {
      .version = DLC_DEVICE_TABLE_VERSION,
      .kind = "cpu",
      .capabilities = DLC_DEVICE_HOST_MEMORY | DLC_DEVICE_HOST_CODE | DLC_DEVICE_ZEROED,
      // All CPU devices share the host's memory, so a copy between two devices is a memcpy.
      .figures = {.gigaflops = 400,
                  .gigabytes = 30,
                  .launch = 1,
                  .host_gigabytes = 10,
                  .host_latency = 0,
                  .peer_gigabytes = 10,
                  .peer_latency = 0},
      .count = countDevices,
      .open = open,
      .close = close,
      .properties = getProperties,
      .report = nullptr,
      .allocate = allocate,
      .release = release,
      .protect = protect,
      .stream_create = streamCreate,
      .stream_destroy = streamDestroy,
      .stream_synchronize = streamSynchronize,
      .event_create = eventCreate,
      .event_destroy = eventDestroy,
      .event_record = eventRecord,
      .event_wait = eventWait,
      .event_synchronize = eventSynchronize,
      .event_elapsed = eventElapsed,
      .copy = copy,
      .fill = fill,
      .run = run,
      .allocate_pinned = nullptr,
      .release_pinned = nullptr,
      .module_load = nullptr,
      .module_unload = nullptr,
      .function = nullptr,
      .launch = nullptr,
      .library_make = nullptr,
      .library_run = nullptr,
      .library_destroy = nullptr,
      .capture_begin = nullptr,
      .capture_end = nullptr,
      .graph_launch = nullptr,
      .graph_destroy = nullptr,
  };
  return &table;
}

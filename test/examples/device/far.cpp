//===- far.cpp - example of a device plugin outside of dlc ----------------------===//
//
// Devices far:0 and far:1 run machine code of the host's processor, and so all kernels and
// libraries of a CPU. They have their own memory: the addresses that they return are reserved and
// inaccessible, the data is stored elsewhere, and code that dereferences such an address without
// asking the device crashes at once. A stream is a thread that runs its tasks later, in order.
//
//   DLC_PLUGINS=build dlc run model.onnx --device far:0
//
//===---------------------------------------------------------------------------===//
#include <dlc/device.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr uint64_t kPage = 4096, kBytes = uint64_t(16) << 30;

int fail(char *error, size_t size, const std::string &text) {
  std::snprintf(error, size, "%s", text.c_str());
  return 1;
}

struct Block {
  char *back;
  uint64_t bytes, mapped;
};

struct Device {
  std::mutex mutex;
  uint64_t used = 0;
  std::map<char *, Block> blocks; ///< keys are the addresses that the device returns

  /// Returns the host address of the bytes, or null if they are not in the device's memory.
  char *find(const void *address, uint64_t bytes) {
    std::lock_guard lock(mutex);
    auto *at = static_cast<char *>(const_cast<void *>(address));
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin())
      return nullptr;
    auto &[front, block] = *std::prev(next);
    uint64_t offset = static_cast<uint64_t>(at - front);
    return offset <= block.bytes && bytes <= block.bytes - offset ? block.back + offset : nullptr;
  }
};

Device &deviceOf(void *device) { return *static_cast<Device *>(device); }

int count(char *, size_t) { return 2; }
int open(int, void **device, char *, size_t) {
  *device = new Device;
  return 0;
}
void close(void *device) { delete &deviceOf(device); }

int properties(void *device, dlc_device_properties *p, char *, size_t) {
  std::lock_guard lock(deviceOf(device).mutex);
  auto cores = static_cast<int32_t>(std::thread::hardware_concurrency());
  *p = {"far away", kBytes, kBytes - deviceOf(device).used, 0, 0, cores};
  return 0;
}

int allocate(void *handle, uint64_t bytes, void **address, char *error, size_t size) {
  Device &device = deviceOf(handle);
  *address = nullptr;
  if (bytes == 0)
    return 0;
  // One page more, so that the end of one block is not the beginning of another.
  uint64_t mapped = (bytes + kPage - 1) / kPage * kPage + kPage;
  std::lock_guard lock(device.mutex);
  if (mapped > kBytes - device.used)
    return fail(error, size, "the device is full");
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *front = mmap(nullptr, mapped, PROT_NONE, flags, -1, 0);
  void *back = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (front == MAP_FAILED || back == MAP_FAILED) {
    for (void *one : {front, back})
      if (one != MAP_FAILED)
        munmap(one, mapped);
    return fail(error, size, "out of host memory for the device");
  }
  // The contents of new memory are undefined, so they are filled with a pattern.
  std::memset(back, 0xcd, bytes);
  device.used += mapped;
  device.blocks[static_cast<char *>(front)] = {static_cast<char *>(back), bytes, mapped};
  *address = front;
  return 0;
}

void release(void *handle, void *address) {
  Device &device = deviceOf(handle);
  std::lock_guard lock(device.mutex);
  auto found = device.blocks.find(static_cast<char *>(address));
  if (found == device.blocks.end())
    return;
  munmap(found->second.back, found->second.mapped);
  munmap(address, found->second.mapped);
  device.used -= found->second.mapped;
  device.blocks.erase(found);
}

/// A stream, which is a thread.
struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<std::string()>> tasks;
  bool busy = false, ending = false;
  std::string error; ///< the first error since the last call of wait()
  std::thread thread{[this] { live(); }};

  ~Stream() {
    {
      std::lock_guard lock(mutex);
      ending = true;
      changed.notify_all();
    }
    thread.join();
  }

  int add(std::function<std::string()> task) {
    std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
    changed.notify_all();
    return 0;
  }

  /// Waits for all tasks. Returns the first error, or "".
  std::string wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return tasks.empty() && !busy; });
    return std::exchange(error, "");
  }

  void live() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return !tasks.empty() || ending; });
      if (tasks.empty())
        return;
      auto task = std::move(tasks.front());
      tasks.pop_front();
      busy = true;
      lock.unlock();
      std::string wrong = task();
      lock.lock();
      busy = false;
      error = error.empty() ? wrong : error;
      changed.notify_all();
    }
  }
};

Stream &streamOf(void *stream) { return *static_cast<Stream *>(stream); }

int streamCreate(void *, void **stream, char *, size_t) {
  *stream = new Stream;
  return 0;
}
void streamDestroy(void *, void *stream) { delete &streamOf(stream); }
int streamSynchronize(void *, void *stream, char *error, size_t size) {
  std::string wrong = streamOf(stream).wait();
  return wrong.empty() ? 0 : fail(error, size, wrong);
}

/// State of an event: how often it was recorded, and which of these recordings has completed.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, come = 0;
  std::chrono::steady_clock::time_point when;

  void waitFor(uint64_t number) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return come >= number; });
  }
  uint64_t last() {
    std::lock_guard lock(mutex);
    return recorded;
  }
};
using Event = std::shared_ptr<State>; ///< shared, because a wait may outlive the event

Event &eventOf(void *event) { return *static_cast<Event *>(event); }

int eventCreate(void *, void **event, char *, size_t) {
  *event = new Event(std::make_shared<State>());
  return 0;
}
void eventDestroy(void *, void *event) { delete &eventOf(event); }
int eventRecord(void *, void *event, void *stream, char *, size_t) {
  Event state = eventOf(event);
  std::lock_guard lock(state->mutex);
  uint64_t number = ++state->recorded;
  return streamOf(stream).add([state, number] {
    std::lock_guard lock(state->mutex);
    state->come = std::max(state->come, number);
    state->when = std::chrono::steady_clock::now();
    state->changed.notify_all();
    return std::string();
  });
}
int eventWait(void *, void *stream, void *event, char *, size_t) {
  Event state = eventOf(event);
  return streamOf(stream).add([state, number = state->last()] {
    state->waitFor(number);
    return std::string();
  });
}
int eventSynchronize(void *, void *event, char *, size_t) {
  eventOf(event)->waitFor(eventOf(event)->last());
  return 0;
}
int eventElapsed(void *, void *from, void *to, float *milliseconds, char *, size_t) {
  std::chrono::duration<float, std::milli> time = eventOf(to)->when - eventOf(from)->when;
  *milliseconds = time.count();
  return 0;
}

constexpr const char *kStray = "an address is not on the device; copy the data there first";

int copy(void *device, void *stream, void *to, const void *from, uint64_t bytes, int direction,
         void *peer, char *error, size_t size) {
  Device &here = deviceOf(device);
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  if (direction != DLC_COPY_DEVICE_TO_HOST)
    target = here.find(to, bytes);
  if (direction != DLC_COPY_HOST_TO_DEVICE)
    source = (direction == DLC_COPY_FROM_PEER ? deviceOf(peer) : here).find(from, bytes);
  if (!target || !source)
    return fail(error, size, kStray);
  return streamOf(stream).add([=] {
    std::memmove(target, source, bytes);
    return std::string();
  });
}

int fill(void *device, void *stream, void *to, uint8_t byte, uint64_t bytes, char *error,
         size_t size) {
  char *target = deviceOf(device).find(to, bytes);
  if (!target)
    return fail(error, size, kStray);
  return streamOf(stream).add([=] {
    std::memset(target, byte, bytes);
    return std::string();
  });
}

int run(void *device, void *stream, dlc_device_work work, void *context, void *const *buffers,
        size_t count, char *error, size_t size) {
  std::vector<void *> addresses(buffers, buffers + count);
  for (void *&address : addresses)
    if (address && !(address = deviceOf(device).find(address, 0)))
      return fail(error, size, kStray);
  return streamOf(stream).add([work, context, addresses = std::move(addresses)] {
    char wrong[1024] = "";
    return work(context, addresses.data(), wrong, sizeof wrong) ? std::string(wrong) : "";
  });
}

} // namespace

extern "C" const dlc_device_table *dlc_far_device_table(char *, size_t) {
  static const dlc_device_table table = [] {
    dlc_device_table t = {};
    t.version = DLC_DEVICE_TABLE_VERSION;
    t.kind = "far";
    t.capabilities = DLC_DEVICE_HOST_CODE;
    t.figures = {400, 30, 10, 5, 10, 5, 10};
    t.count = count, t.open = open, t.close = close, t.properties = properties;
    t.allocate = allocate, t.release = release, t.copy = copy, t.fill = fill, t.run = run;
    t.stream_create = streamCreate, t.stream_destroy = streamDestroy;
    t.stream_synchronize = streamSynchronize, t.event_create = eventCreate;
    t.event_destroy = eventDestroy, t.event_record = eventRecord, t.event_wait = eventWait;
    t.event_synchronize = eventSynchronize, t.event_elapsed = eventElapsed;
    return t;
  }();
  return &table;
}

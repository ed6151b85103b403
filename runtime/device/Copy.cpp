//===- Copy.cpp - asynchronous copies between devices ------------------------===//
#include "runtime/device/Copy.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>

namespace dlc::runtime {

namespace {

/// Worker thread that executes tasks in order. It is never joined and lives as long as the process.
class CopyWorker {
public:
  CopyWorker() {
    std::thread([this] { work(); }).detach();
  }

  std::future<void> add(std::packaged_task<void()> task) {
    std::future<void> done = task.get_future();
    std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
    added.notify_one();
    return done;
  }

private:
  [[noreturn]] void work() {
    for (;;) {
      std::unique_lock lock(mutex);
      added.wait(lock, [&] { return !tasks.empty(); });
      std::packaged_task<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex;
  std::condition_variable added;
  std::deque<std::packaged_task<void()>> tasks;
};

CopyWorker &getCopyWorker(const Device &device) {
  static std::mutex mutex;
  // Never destroyed: the threads of the workers may still wait when the process ends.
  static auto &workers = *new std::map<const Device *, CopyWorker>;
  std::lock_guard lock(mutex);
  return workers[&device];
}

/// Returns the device's stream for asynchronous copies. It is separate from Device::copyStream(),
/// on which a synchronous copy would have to wait for pending copies.
void *getCopyStream(const Device &device) {
  static std::mutex mutex;
  static auto &streams = *new std::map<const Device *, void *>;
  std::lock_guard lock(mutex);
  void *&stream = streams[&device];
  if (!stream)
    device.call(device.table.stream_create, &stream);
  return stream;
}

} // namespace

PendingCopy::PendingCopy(void *to, Device &toDevice, const void *from, Device &fromDevice,
                         uint64_t bytes) {
  if (bytes == 0 || to == from)
    return;
  if ((toDevice.hasHostMemory() && fromDevice.hasHostMemory()) ||
      !canCopyDirectly(toDevice, fromDevice)) {
    done = getCopyWorker(toDevice).add(std::packaged_task<void()>(
        [=, &toDevice, &fromDevice] { copyBytes(to, toDevice, from, fromDevice, bytes); }));
    return;
  }
  worker = &copyingDevice(toDevice, fromDevice);
  void *stream = getCopyStream(*worker);
  worker->call(worker->table.event_create, &event);
  try {
    enqueueCopy(to, toDevice, from, fromDevice, bytes, stream);
    worker->call(worker->table.event_record, event, stream);
  } catch (...) {
    worker->table.event_destroy(worker->handle, event);
    throw;
  }
}

PendingCopy::~PendingCopy() {
  try {
    wait();
  } catch (const std::exception &) {
    // Ignore the error, because a destructor cannot report it.
  }
}

void PendingCopy::wait() {
  if (done.valid())
    done.get();
  void *reached = std::exchange(event, nullptr);
  if (!reached)
    return;
  struct Destroy {
    Device &device;
    void *event;
    ~Destroy() { device.table.event_destroy(device.handle, event); }
  } destroy{*worker, reached};
  worker->call(worker->table.event_synchronize, reached);
}

} // namespace dlc::runtime

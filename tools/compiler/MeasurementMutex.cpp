//===- MeasurementMutex.cpp - mutual exclusion of program runs and background measurements ----===//
#include "tools/compiler/MeasurementMutex.h"

#include "dlc/Error.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>

namespace dlc {

/// Mutex and counters in shared memory, which forked processes also access.
struct MeasurementMutex::Shared {
  pthread_mutex_t mutex;
  /// `waiting`: whether a measurement waits for the mutex. `served`: number of finished
  /// measurements. `seen`: value of `served` at the start of the last run.
  std::atomic<bool> waiting{false};
  std::atomic<unsigned> served{0}, seen{0};

  void lock() {
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
      pthread_mutex_consistent(&mutex);
  }
  void unlock() { pthread_mutex_unlock(&mutex); }
};

MeasurementMutex::MeasurementMutex() {
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("cannot allocate memory that is shared with the process that measures kernels; "
                "free some memory");
  auto *made = new (memory) Shared();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&made->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  shared = std::shared_ptr<Shared>(made, [](Shared *old) { munmap(old, sizeof(Shared)); });
}

std::shared_ptr<void> MeasurementMutex::lockForRun() {
  // Maximum time that a run waits for a waiting measurement. The wait is necessary because a
  // pthread mutex is not fair: a thread that unlocks and relocks it at once usually gets it again.
  constexpr auto kPatience = std::chrono::milliseconds(5);
  auto start = std::chrono::steady_clock::now();
  unsigned before = shared->seen;
  while (shared->waiting && shared->served == before) {
    if (std::chrono::steady_clock::now() - start > kPatience) {
      // The process that waits for the mutex has not locked it within 5 ms, so it was probably
      // killed.
      shared->waiting = false;
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  shared->lock();
  shared->seen = shared->served.load();
  return {shared.get(), [keep = shared](void *) { keep->unlock(); }};
}

std::shared_ptr<void> MeasurementMutex::lockForMeasurement() {
  shared->waiting = true;
  shared->lock();
  shared->waiting = false;
  return {shared.get(), [keep = shared](void *) {
            ++keep->served;
            keep->unlock();
          }};
}

} // namespace dlc

//===- Parallel.h - parallel loops on the thread pool that oneDNN also uses --===//
#ifndef DLC_RUNTIME_DEVICE_CPU_PARALLEL_H
#define DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

#include "runtime/threads/ThreadPool.h"

#include <algorithm>
#include <cstdint>

namespace dlc::runtime {

/// Sets the calling thread's number of threads for the lifetime of the object and then restores the
/// previous value. oneDNN reads this number when it creates and when it executes a primitive.
class ThreadScope {
public:
  explicit ThreadScope(int count) : before(threads::defaultThreads()) {
    if (count > 0 && count != before)
      threads::set(count);
    else
      before = 0;
  }
  ~ThreadScope() {
    if (before)
      threads::set(before);
  }
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int before;
};

/// Calls body(begin, end, range) over [0, extent), split into one contiguous range of whole grains
/// per thread. Range i is preferably executed by thread i, so that consecutive loops over the same
/// data hit the same core's cache; if thread i is late, another thread takes its range. `body` must
/// not throw.
template <typename Body>
inline void parallelFor(int threads, int64_t extent, int64_t grain, const Body &body) {
  int64_t chunks = extent / grain + (extent % grain != 0);
  if (threads <= 1 || chunks <= 1) {
    if (extent > 0)
      body(int64_t(0), extent, 0);
    return;
  }
  struct Loop {
    const Body &body;
    int64_t extent, grain, chunks;
  } loop{body, extent, grain, chunks};
  auto run = [](void *context, int range, int ranges) {
    const Loop &loop = *static_cast<const Loop *>(context);
    int64_t each = loop.chunks / ranges, more = loop.chunks % ranges;
    int64_t first = range * each + std::min<int64_t>(range, more), count = each + (range < more);
    int64_t begin = first * loop.grain, end = std::min(loop.extent, (first + count) * loop.grain);
    if (begin < end)
      loop.body(begin, end, range);
  };
  // Use no more threads than there are chunks.
  threads::ranges(static_cast<int>(std::min<int64_t>(threads, chunks)), run, &loop);
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

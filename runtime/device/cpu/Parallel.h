//===- Parallel.h - loops over the threads that oneDNN uses too ---------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_PARALLEL_H
#define DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

#include "runtime/threads/Team.h"

#include <algorithm>
#include <cstdint>

namespace dlc::runtime {

/// Sets the number of threads for the calling thread; oneDNN looks at it when it plans and when it
/// runs. The caller's own setting comes back at the end.
class ThreadScope {
public:
  explicit ThreadScope(int count) : before(threads::most()) {
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

/// body(begin, end, range) over [0, extent): as many contiguous ranges of whole grains as threads,
/// each begun by the thread of its number, so that consecutive loops over the same data find it in
/// the same cache; others take it where that thread is late. `body` must not throw.
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
  // No more than there are chunks for.
  threads::ranges(static_cast<int>(std::min<int64_t>(threads, chunks)), run, &loop);
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

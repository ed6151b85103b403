//===- Parallel.h - loops over the threads that oneDNN uses too ---------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_PARALLEL_H
#define DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace dlc::runtime {

/// Sets the number of OpenMP threads for the calling thread; oneDNN looks at it when it plans and
/// when it runs. The caller's own setting comes back at the end.
class ThreadScope {
public:
  explicit ThreadScope(int threads) : before(omp_get_max_threads()) {
    if (threads > 0 && threads != before)
      omp_set_num_threads(threads);
    else
      before = 0;
  }
  ~ThreadScope() {
    if (before)
      omp_set_num_threads(before);
  }
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int before;
};

/// body(begin, end, thread) over [0, extent): one contiguous range of whole grains per thread, so
/// that consecutive loops over the same data find it in the same cache. `body` must not throw.
template <typename Body>
inline void parallelFor(int threads, int64_t extent, int64_t grain, const Body &body) {
  int64_t chunks = extent / grain + (extent % grain != 0);
  if (threads <= 1 || chunks <= 1) {
    if (extent > 0)
      body(int64_t(0), extent, 0);
    return;
  }
  // Always the whole team, even for few chunks: libgomp ends threads that a smaller team leaves
  // over, and starting them again costs more than letting them pass.
#pragma omp parallel num_threads(threads)
  {
    // Inside somebody else's parallel region there may be fewer than asked for.
    int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    int64_t each = chunks / team, more = chunks % team;
    int64_t first = me * each + std::min(me, more), count = each + (me < more);
    int64_t begin = first * grain, end = std::min(extent, (first + count) * grain);
    if (begin < end)
      body(begin, end, static_cast<int>(me));
  }
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_PARALLEL_H

//===- OpenMp.cpp - OpenMP functions for oneDNN, implemented with dlc's thread pools -===//
//
// Implements the functions that GCC calls for `#pragma omp` and those of omp.h. They have unique
// names, which rebind.py also sets in dlc's copy of oneDNN, so that another OpenMP runtime in the
// process does not interfere.
//
//===------------------------------------------------------------------------------===//
#include "runtime/threads/ThreadPool.h"

#include <algorithm>

namespace {

/// State of a worksharing loop with a static schedule, one per thread.
struct WorksharingLoop {
  long begin = 0, step = 1, count = 0, chunk = 0;
  long taken = 0; ///< number of chunks that the thread has taken
};
thread_local WorksharingLoop loop;

/// Sets [begin, end) to the thread's next range of iterations; returns false if there are none.
/// Without a chunk size, each thread has one contiguous range.
bool takeNextChunk(long *begin, long *end) {
  const long team = dlc::threads::count(), me = dlc::threads::number();
  long first = 0, last = 0;
  if (loop.chunk <= 0) {
    if (loop.taken > 0)
      return false;
    long each = loop.count / team, more = loop.count % team;
    first = me * each + std::min(me, more);
    last = first + each + (me < more);
  } else {
    first = (loop.taken * team + me) * loop.chunk;
    last = std::min(loop.count, first + loop.chunk);
  }
  ++loop.taken;
  if (first >= last)
    return false;
  *begin = loop.begin + first * loop.step;
  *end = loop.begin + last * loop.step;
  return true;
}

} // namespace

#define DLC_SHOWN extern "C" __attribute__((visibility("default")))

DLC_SHOWN int dlc_get_max_threads() { return dlc::threads::defaultThreads(); }
DLC_SHOWN int dlc_get_num_threads() { return dlc::threads::count(); }
DLC_SHOWN int dlc_get_thread_num() { return dlc::threads::number(); }
DLC_SHOWN int dlc_in_parallel() { return dlc::threads::isInParallelWork(); }

DLC_SHOWN void DLCP_parallel_start(void (*body)(void *), void *data, unsigned threads) {
  dlc::threads::start(static_cast<int>(threads), body, data);
}
DLC_SHOWN void DLCP_parallel_end() { dlc::threads::end(); }
DLC_SHOWN void DLCP_barrier() { dlc::threads::barrier(); }

DLC_SHOWN bool DLCP_loop_static_start(long begin, long end, long step, long chunk, long *from,
                                      long *to) {
  long count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
  loop = {begin, step, std::max(0L, count), chunk, 0};
  return takeNextChunk(from, to);
}
DLC_SHOWN bool DLCP_loop_static_next(long *from, long *to) { return takeNextChunk(from, to); }
DLC_SHOWN void DLCP_loop_end_nowait() {}

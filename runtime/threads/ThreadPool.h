//===- ThreadPool.h - thread pools -------------------------------------------===//
//
// Each thread that requests parallel work has its own pool, which is created at the first request
// and retained. A thread that waits spins for up to 100 microseconds and then sleeps. This is long
// enough that all workers are awake for the program's next loop, and short enough that on a loaded
// machine the core goes to a thread with work. Threads spin for a shorter time if earlier spinning
// was in vain, and not at all if there are more threads than CPUs.
//
// The threads of another OpenMP runtime spin for milliseconds after each of its loops, on the cores
// that our threads need. A caller between two such loops can borrow these threads: they are the
// pool's workers until the call returns.
//
// Ranges of a loop, and independent parts, are claimed when a thread starts them, so that other
// threads take those of a thread without a core. Workers are kept off the core of the thread for
// which they work.
//
//===-----------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_THREADS_THREADPOOL_H
#define DLC_RUNTIME_THREADS_THREADPOOL_H

#include "dlc/Export.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace dlc::threads {

/// Returns the default number of threads of the calling thread: the value of set(), else
/// $OMP_NUM_THREADS, else the number of CPUs that it may use.
DLC_EXPORT int defaultThreads();
DLC_EXPORT void set(int threads);

/// number() returns the calling thread's index and count() the number of threads within parallel
/// work; elsewhere 0 and 1.
DLC_EXPORT int number();
DLC_EXPORT int count();
DLC_EXPORT bool isInParallelWork();

/// ranges() calls body(context, range, ranges) for each of `ranges` ranges (at most 256) by as many
/// threads, including the calling one. Nested calls, within parallel work, have a single range.
using RangeBody = void (*)(void *context, int range, int ranges);
DLC_EXPORT void ranges(int ranges, RangeBody body, void *context);

/// start() runs body(data) on `threads` threads (0: defaultThreads()) concurrently; they may use
/// barrier(). The calling thread executes its own part between start() and end(). Nested calls,
/// within parallel work, use the calling thread only. After setPartsIndependent(true), the calling
/// thread's parts are independent: none uses barrier(), and end() executes parts that no thread has
/// started.
using Body = void (*)(void *data);
/// Sets whether the calling thread's parts are independent. Returns the previous value.
DLC_EXPORT bool setPartsIndependent(bool independent);
DLC_EXPORT void start(int threads, Body body, void *data);
DLC_EXPORT void end();
DLC_EXPORT void barrier();

/// Returns the number of parallel loops and bodies that the calling thread has requested.
DLC_EXPORT uint64_t jobs();

/// Functions of another OpenMP runtime in the process: GCC's entry point for `#pragma omp parallel`
/// (GOMP_parallel), and functions of omp.h.
struct OpenMp {
  void (*parallel)(Body body, void *data, unsigned threads, unsigned flags) = nullptr;
  int (*maxThreads)() = nullptr, (*numThreads)() = nullptr, (*inParallel)() = nullptr;
};
/// Returns the functions of a library that is already loaded and keeps it loaded; std::nullopt if
/// it is not loaded or lacks a function.
DLC_EXPORT std::optional<OpenMp> loadOpenMp(const char *library);
/// Calls run(data), which may throw, with the threads of another OpenMP runtime as the workers of
/// the calling thread's pool. The pool's own workers are used instead if the other runtime does not
/// have exactly defaultThreads() threads, so that it would create or end threads; in nested calls;
/// and in a process that was forked without exec: the other runtime's threads may not exist there,
/// and it would wait for them forever.
DLC_EXPORT void borrow(const OpenMp &from, Body run, void *data);
DLC_EXPORT bool borrows(); ///< Returns whether the calling thread is borrowing threads.

/// getPoolCpuTime() returns the CPU time of the calling thread and its own workers.
/// getBorrowedCpuTime() returns the CPU time of the threads borrowed last, without the calling
/// thread: std::nullopt if there are none or one has terminated.
DLC_EXPORT std::chrono::nanoseconds getPoolCpuTime();
DLC_EXPORT std::chrono::nanoseconds getProcessCpuTime(); ///< CPU time of the whole process.
DLC_EXPORT std::optional<std::chrono::nanoseconds> getBorrowedCpuTime();

} // namespace dlc::threads

#endif // DLC_RUNTIME_THREADS_THREADPOOL_H

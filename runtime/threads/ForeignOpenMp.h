//===- ForeignOpenMp.h - cooperation with another OpenMP runtime in the process -===//
//
// If a program is called between operations of PyTorch, or of another library with its own OpenMP
// runtime, the threads of that runtime spin for milliseconds after each of their loops, on the
// cores that our threads need. Whether they spin is detected by the CPU time that they use while
// our threads work. It is measured in one of several runs, and only if such a library is loaded.
// While they spin, work is done by those threads (threads::borrow). From time to time our own
// threads do the work again, to check whether the others would still spin.
//
//===-----------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_THREADS_FOREIGNOPENMP_H
#define DLC_RUNTIME_THREADS_FOREIGNOPENMP_H

#include "runtime/threads/ThreadPool.h"

namespace dlc::threads {

/// Calls run(data), which may throw. Its parallel work runs on the calling thread's own pool. If
/// earlier calls measured that the threads of another OpenMP runtime (such as PyTorch's) spin on
/// our cores, it runs on those threads instead.
DLC_EXPORT void runWithForeignThreads(Body run, void *data);

} // namespace dlc::threads

#endif // DLC_RUNTIME_THREADS_FOREIGNOPENMP_H

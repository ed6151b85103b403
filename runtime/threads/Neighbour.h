//===- Neighbour.h - work beside another OpenMP of the process --------------------===//
//
// Who calls a program between operations of PyTorch, or of another library with an OpenMP of its
// own, finds that one's threads spinning on the cores that ours want, for milliseconds after each
// of its loops. Whether they do shows in the processor time that they spend while ours work: it is
// looked at in one of several runs, and only where such a library is loaded. While they do, work
// is done by them (threads::borrow), and now and then by our own again, to see whether they still
// would spin.
//
//===-----------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_THREADS_NEIGHBOUR_H
#define DLC_RUNTIME_THREADS_NEIGHBOUR_H

#include "runtime/threads/Team.h"

namespace dlc::threads {

/// run(data), which may throw, with the calling thread's team, or with the threads of another
/// OpenMP that were seen to spin beside it.
DLC_EXPORT void runBeside(Body run, void *data);

} // namespace dlc::threads

#endif // DLC_RUNTIME_THREADS_NEIGHBOUR_H

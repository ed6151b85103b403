//===- Team.h - the threads that work for the calling one ------------------------===//
//
// Each thread that asks for parallel work has a team of its own, made when first asked for and
// kept. Whoever waits spins for up to 100 microseconds, then sleeps: long enough for the next loop
// of a program to find all awake, short enough that on a machine with other work the core goes to a
// thread that has something to do; for less where spinning was in vain before. Where there are more
// threads than processors nobody spins.
//
// Ranges of a loop, and parts that stand alone, are claimed when a thread begins with them: those
// of a thread that has no core are taken by the others. Threads stay off the core of the one they
// work for.
//
//===-----------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_THREADS_TEAM_H
#define DLC_RUNTIME_THREADS_TEAM_H

#include "dlc/Export.h"

namespace dlc::threads {

/// How many threads the calling thread asks for where nobody says: what set() left, else
/// $OMP_NUM_THREADS, else as many as it may run on.
DLC_EXPORT int most();
DLC_EXPORT void set(int threads);

/// Within a team: which of how many. Elsewhere 0 of 1.
DLC_EXPORT int number();
DLC_EXPORT int count();
DLC_EXPORT bool isInTeam();

/// body(context, range, ranges) for each of so many ranges (at most 256), by as many threads, of
/// which the calling one is the first. Within a team: one range.
using RangeBody = void (*)(void *context, int range, int ranges);
DLC_EXPORT void ranges(int ranges, RangeBody body, void *context);

/// body(data) by `threads` threads (0: most()) at the same time, which may wait for each other
/// (barrier()); the calling thread begins its own part after start() and ends it before end().
/// Within a team: by the calling thread alone. While the calling thread's parts stand alone, none
/// waits for another, and end() does those that no thread has begun with.
using Body = void (*)(void *data);
DLC_EXPORT bool setPartsStandAlone(bool doThey); ///< Returns what was set before.
DLC_EXPORT void start(int threads, Body body, void *data);
DLC_EXPORT void end();
DLC_EXPORT void barrier();

} // namespace dlc::threads

#endif // DLC_RUNTIME_THREADS_TEAM_H

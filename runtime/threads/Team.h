//===- Team.h - the threads that work for the calling one ------------------------===//
//
// Each thread that asks for parallel work has a team of its own, made when first asked for and
// kept. Whoever waits spins for up to 100 microseconds, then sleeps: long enough for the next loop
// of a program to find all awake, short enough that on a machine with other work the core goes to a
// thread that has something to do; for less where spinning was in vain before. Where there are more
// threads than processors nobody spins.
//
// Another OpenMP's threads spin after each of its loops, for milliseconds, on the cores that ours
// want. Who calls between two of those loops borrows them: they are the team's other threads until
// the call is over.
//
// Ranges of a loop, and parts that stand alone, are claimed when a thread begins with them: those
// of a thread that has no core are taken by the others. Threads stay off the core of the one they
// work for.
//
//===-----------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_THREADS_TEAM_H
#define DLC_RUNTIME_THREADS_TEAM_H

#include "dlc/Export.h"

#include <chrono>
#include <cstdint>
#include <optional>

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

/// How many loops and bodies the calling thread has asked for.
DLC_EXPORT uint64_t jobs();

/// Another OpenMP of the process: what gcc calls for `#pragma omp parallel`, and of omp.h the
/// functions of the names here.
struct OpenMp {
  void (*parallel)(Body body, void *data, unsigned threads, unsigned flags) = nullptr;
  int (*maxThreads)() = nullptr, (*numThreads)() = nullptr, (*inParallel)() = nullptr;
};
/// That of the loaded library of this name, which stays loaded; nothing where there is none.
DLC_EXPORT std::optional<OpenMp> openMpOf(const char *library);
/// run(data), which may throw, with that one's threads in the calling thread's team. With its own
/// where the other would not give as many as most() without making new ones or ending some, within
/// a team, and in a process that was forked without a new program: the other's threads may have
/// been left behind, and it would wait for them for ever.
DLC_EXPORT void borrow(const OpenMp &from, Body run, void *data);
DLC_EXPORT bool borrows(); ///< Whether the calling thread does.

/// Processor time of the calling thread and of its own team; of those that it borrowed last
/// without itself, nothing where it never borrowed or one of them has ended.
DLC_EXPORT std::chrono::nanoseconds spentByOwn();
DLC_EXPORT std::chrono::nanoseconds spentByProcess(); ///< Of all threads.
DLC_EXPORT std::optional<std::chrono::nanoseconds> spentByBorrowed();

} // namespace dlc::threads

#endif // DLC_RUNTIME_THREADS_TEAM_H

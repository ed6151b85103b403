//===- ProcessorTime.h - limits the processor time of a process ----------------===//
#ifndef DLC_TEST_PROCESSORTIME_H
#define DLC_TEST_PROCESSORTIME_H

#include <sys/time.h>

namespace dlc {

/// Limits this process to the given number of seconds, after which SIGPROF ends it. They are
/// seconds of processor time, not wall-clock time, so waiting for a busy machine does not count.
inline void limitProcessorTime(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

} // namespace dlc

#endif // DLC_TEST_PROCESSORTIME_H

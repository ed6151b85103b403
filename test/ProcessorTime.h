//===- ProcessorTime.h - an end for what does not end by itself ----------------===//
#ifndef DLC_TEST_PROCESSORTIME_H
#define DLC_TEST_PROCESSORTIME_H

#include <sys/time.h>

namespace dlc {

/// From now on this process has so many seconds, then SIGPROF ends it. They are the processor's,
/// not the clock's: who waits for a busy machine does not hang.
inline void limitProcessorTime(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

} // namespace dlc

#endif // DLC_TEST_PROCESSORTIME_H

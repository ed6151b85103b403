//===- RunQueueDelay.h - detects other work on the same processors --------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_RUNQUEUEDELAY_H
#define DLC_CODEGEN_SELECT_MEASURE_RUNQUEUEDELAY_H

namespace dlc {

/// Returns the microseconds that the threads of this process have waited in the scheduler's run
/// queues since they started; 0 if the system does not report it.
double runQueueDelay();

} // namespace dlc
#endif

//===- MeasurementMutex.h - mutual exclusion of program runs and background measurements ------===//
#ifndef DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H
#define DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H

#include <memory>

namespace dlc {

/// Robust mutex between program runs and kernel measurements, for threads of this process and of
/// forked processes. If a process dies while it holds the mutex, the mutex is released.
class MeasurementMutex {
public:
  MeasurementMutex();

  /// Locks the mutex for a program run; destroying the returned pointer unlocks it. Waits for at
  /// most one measurement. A waiting measurement gets the mutex between two runs, so a program that
  /// runs all the time can still be tuned.
  std::shared_ptr<void> lockForRun();
  /// Locks the mutex for one kernel measurement; destroying the returned pointer unlocks it.
  std::shared_ptr<void> lockForMeasurement();

private:
  struct Shared;
  std::shared_ptr<Shared> shared;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H

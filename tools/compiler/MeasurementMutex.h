//===- MeasurementMutex.h - mutual exclusion of program runs and background measurements ------===//
#ifndef DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H
#define DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H

#include <memory>

namespace dlc {

/// Robust mutex between threads of this process and its forked processes. If a holder dies, the
/// mutex is released.
class MeasurementMutex {
public:
  MeasurementMutex();

  /// Acquires the turn for a program run. Waits for at most one measurement. A waiting measurement
  /// gets the turn between two runs, so a program that runs all the time can still be tuned.
  std::shared_ptr<void> lockForRun();
  /// Acquires the turn for one measurement.
  std::shared_ptr<void> lockForMeasurement();

private:
  struct Shared;
  std::shared_ptr<Shared> shared;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_MEASUREMENTMUTEX_H

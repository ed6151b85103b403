//===- Turns.h - who uses the processor: a program, or who measures behind it ------===//
#ifndef DLC_TOOLS_COMPILER_TURNS_H
#define DLC_TOOLS_COMPILER_TURNS_H

#include <memory>

namespace dlc {

/// One at a time, between threads of this process and processes that it forks. Who dies with the
/// turn gives it back.
class Turns {
public:
  Turns();

  /// A program's run: it waits for one measurement at most, and lets the next one in before it
  /// comes again, so that who runs all the time is measured behind, too.
  std::shared_ptr<void> forRun();
  /// One measurement.
  std::shared_ptr<void> forMeasurement();

private:
  struct Shared;
  std::shared_ptr<Shared> shared;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_TURNS_H

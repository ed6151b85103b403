//===- ClockOffset.h - clock offsets between ranks ---------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H
#define DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H

#include "runtime/collective/World.h"

#include <functional>

namespace dlc::runtime {

/// Offset in nanoseconds of this rank's clock relative to rank 0's, and its maximum error. The
/// offset is 0 if the measurement is consistent with 0: ranks of one machine share a clock.
struct ClockOffset {
  int64_t ns = 0, error = 0;
};

/// Measures the offset of this rank's clock. All ranks must call it together. `now` reads the
/// clock; null: std::chrono::steady_clock.
DLC_EXPORT ClockOffset measureClockOffset(World &world,
                                          const std::function<int64_t()> &now = nullptr);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H

//===- ClockOffset.h - how far ranks' clocks are apart ---------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H
#define DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H

#include "runtime/collective/World.h"

#include <functional>

namespace dlc::runtime {

/// Nanoseconds that this rank's clock is ahead of rank 0's, and how much it may be wrong. 0 where
/// nothing speaks against it: the ranks of one machine have one clock.
struct ClockOffset {
  int64_t ns = 0, error = 0;
};

/// All ranks must call it together. `now` is the clock; null: std::chrono::steady_clock.
DLC_EXPORT ClockOffset clockOffset(World &world, const std::function<int64_t()> &now = nullptr);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_CLOCKOFFSET_H

//===- LoopAddresses.h - addresses that advance with a loop's iterations -----===//
#ifndef DLC_RUNTIME_SESSION_LOOPADDRESSES_H
#define DLC_RUNTIME_SESSION_LOOPADDRESSES_H

#include "runtime/session/Binder.h"

#include <deque>

namespace dlc::runtime {

/// Address slots of a loop's body that advance in each iteration, because their buffers have a
/// step.
class LoopAddresses {
public:
  void add(const Plan &plan, Binder &binder, void **slot, uint32_t buffer);
  /// Sets the slots to their addresses in an iteration. Throws if a buffer would leave its range.
  void moveTo(int64_t iteration);

private:
  struct Slot {
    void **slot;
    void *first = nullptr; ///< address in the first iteration
    int64_t step, last;    ///< last iteration in which the buffer is within its range
  };
  std::deque<Slot> slots; ///< a deque, because the binder keeps pointers to its elements
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_LOOPADDRESSES_H

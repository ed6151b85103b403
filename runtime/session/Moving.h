//===- Moving.h - addresses that move with a loop's iterations ----------------===//
#ifndef DLC_RUNTIME_SESSION_MOVING_H
#define DLC_RUNTIME_SESSION_MOVING_H

#include "runtime/session/Binder.h"

#include <deque>

namespace dlc::runtime {

/// The slots of one loop's body whose buffers have a step.
class Moving {
public:
  void add(const Plan &plan, Binder &binder, void **slot, uint32_t buffer);
  /// Before each iteration. Throws where a buffer would leave what it lies in.
  void moveTo(int64_t iteration);

private:
  struct Slot {
    void **slot;
    void *first = nullptr; ///< its address in the first iteration
    int64_t step, last;    ///< the last iteration in which it lies inside
  };
  std::deque<Slot> slots; ///< the binder keeps their addresses
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_MOVING_H

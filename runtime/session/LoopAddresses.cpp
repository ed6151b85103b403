//===- LoopAddresses.cpp - addresses that advance with a loop's iterations ---===//
#include "runtime/session/LoopAddresses.h"

#include "runtime/program/Message.h"

namespace dlc::runtime {

static int64_t computeLastIteration(const Buffer &buffer) {
  uint64_t space =
      buffer.step < 0 ? buffer.offset - buffer.begin : buffer.end - buffer.offset - buffer.bytes;
  uint64_t step =
      buffer.step < 0 ? -static_cast<uint64_t>(buffer.step) : static_cast<uint64_t>(buffer.step);
  return static_cast<int64_t>(space / step);
}

void LoopAddresses::add(const Plan &plan, Binder &binder, void **slot, uint32_t index) {
  const Buffer &buffer = plan.buffers[index];
  Slot &added = slots.emplace_back(Slot{slot, nullptr, buffer.step, computeLastIteration(buffer)});
  binder.bind(&added.first, index);
}

void LoopAddresses::moveTo(int64_t iteration) {
  for (Slot &one : slots) {
    if (iteration > one.last)
      fail("iteration ", iteration,
           " exceeds a buffer that advances with each iteration; required: at most ", one.last + 1,
           " iterations");
    *one.slot = static_cast<char *>(one.first) + iteration * one.step;
  }
}

} // namespace dlc::runtime

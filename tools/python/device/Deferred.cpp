//===- Deferred.cpp - releases arrays after the runs that read them ----------===//
#include "tools/python/device/Deferred.h"

#include <deque>

namespace nb = nanobind;

namespace dlc::python {

namespace {

struct Deferred {
  nb::object tensor;
  std::shared_ptr<runtime::DeviceEvent> end;
};

/// Maximum number of tensors whose release is deferred.
constexpr size_t kMaxDeferred = 256;

/// Never destroyed, because the interpreter may be finalized before static objects are.
std::deque<Deferred> &deferred() {
  static auto &list = *new std::deque<Deferred>;
  return list;
}

/// Waits for a run. Its errors are reported by the functions that read its results.
void waitFor(const runtime::DeviceEvent &end) {
  nb::gil_scoped_release released;
  try {
    end.synchronize();
  } catch (const std::exception &) {
    // Ignore the error: the tensor is released in any case.
  }
}

} // namespace

void releaseAfter(nb::object tensor, std::shared_ptr<runtime::DeviceEvent> end) {
  deferred().push_back({std::move(tensor), std::move(end)});
}

void releaseFinished() {
  std::deque<Deferred> &list = deferred();
  while (!list.empty() && (list.size() > kMaxDeferred || list.front().end->isDone())) {
    // Releasing the tensor may run Python code that calls this function, so the tensor is removed
    // from the list first.
    Deferred oldest = std::move(list.front());
    list.pop_front();
    waitFor(*oldest.end);
  }
}

} // namespace dlc::python

//===- Captured.h - commands that a device is given as one graph --------------===//
#ifndef DLC_RUNTIME_SESSION_CAPTURED_H
#define DLC_RUNTIME_SESSION_CAPTURED_H

#include "runtime/device/Device.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace dlc::runtime {

/// A range of a stream's commands, all given to the device alone, with fixed sizes. Addresses stand
/// in a graph: it is captured when they come for the second time (the first run of a kernel may
/// load code, which a capture must not), and kept for as many sets of addresses as callers take
/// turns with.
class Captured {
public:
  Captured(Device &device, size_t first, size_t last) : first(first), last(last), device(device) {}
  ~Captured();
  Captured(const Captured &) = delete;

  const size_t first, last;

  /// Carries the commands out: `plain` gives them to the stream one by one.
  void run(void *stream, const std::vector<void *> &addresses, const std::function<void()> &plain);
  uint64_t launches() const { return launched; }

private:
  struct Graph {
    std::vector<void *> addresses;
    void *handle = nullptr;
  };
  void *capture(void *stream, const std::function<void()> &plain);

  Device &device;
  /// The one used last is in front.
  std::vector<Graph> graphs;
  bool refused = false;
  uint64_t launched = 0;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPTURED_H

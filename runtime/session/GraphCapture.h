//===- GraphCapture.h - capture of device commands into graphs ---------------===//
#ifndef DLC_RUNTIME_SESSION_GRAPHCAPTURE_H
#define DLC_RUNTIME_SESSION_GRAPHCAPTURE_H

#include "runtime/device/Device.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace dlc::runtime {

/// Executes a range of a stream's commands as a device graph. The commands run on the device only
/// and have static sizes. A graph contains the buffer addresses. It is captured when a set of
/// addresses occurs for the second time: the first run of a kernel may load code, which is not
/// allowed during a capture. The graphs of the 8 most recently used sets of addresses are cached.
class GraphCapture {
public:
  GraphCapture(Device &device, size_t first, size_t last)
      : first(first), last(last), device(device) {}
  ~GraphCapture();
  GraphCapture(const GraphCapture &) = delete;

  const size_t first, last;

  /// Function that submits the commands to a stream one by one.
  using Submit = std::function<void(void *stream)>;
  /// Executes the commands in `stream`: launches a cached graph for these addresses, or calls
  /// `plain`. Commands are captured in `captureStream`, a stream of the session, because `stream`
  /// may be a default stream, which cannot be captured.
  void run(void *stream, void *captureStream, const std::vector<void *> &addresses,
           const Submit &plain);
  uint64_t launches() const { return launched; }

private:
  struct Graph {
    std::vector<void *> addresses;
    void *handle = nullptr;
  };
  void *capture(void *stream, const Submit &plain);

  Device &device;
  /// Cached graphs, most recently used first.
  std::vector<Graph> graphs;
  bool refused = false;
  uint64_t launched = 0;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_GRAPHCAPTURE_H

//===- Streams.h - work that waits in streams, and when it comes to pass ------===//
#ifndef DLC_TEST_EMULATOR_STREAMS_H
#define DLC_TEST_EMULATOR_STREAMS_H

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace dlc_emulated {

using Result = int;
struct StreamState;
struct CaptureState;

/// What an event was recorded at last.
struct Moment {
  std::shared_ptr<StreamState> stream;
  bool passed = false;
  std::chrono::steady_clock::time_point time;
  /// Within a capture: the nodes that come before.
  std::shared_ptr<CaptureState> capture;
  std::vector<int> nodes;
};

struct Command {
  /// One of the three.
  std::function<Result()> work;
  std::shared_ptr<Moment> record;
  std::shared_ptr<Moment> wait;
};

struct StreamState {
  int device = 0;
  std::deque<Command> queue;
  std::shared_ptr<CaptureState> capture;
  /// Within a capture: the nodes that the next command comes after.
  std::vector<int> last;
};

struct GraphState {
  struct Node {
    std::function<Result()> work;
    std::vector<int> after;
  };
  std::vector<Node> nodes;
};

struct CaptureState {
  std::shared_ptr<GraphState> graph = std::make_shared<GraphState>();
  std::shared_ptr<StreamState> origin;
  std::vector<std::weak_ptr<StreamState>> members;
  Result broken = 0;
};

/// When work that could run does run.
enum class Order {
  /// Not before somebody waits for it, and nothing beside it.
  Late,
  /// At any time that the events allow, and in any order.
  Random,
  /// At once.
  Eager,
};

class Scheduler {
public:
  Order order = Order::Late;
  std::mt19937_64 random;
  /// What to do with a code that is not 0 from a device's work.
  std::function<void(int device, Result)> failed;

  std::shared_ptr<StreamState> create(int device);
  void destroy(const std::shared_ptr<StreamState> &stream);
  void enqueue(const std::shared_ptr<StreamState> &stream, Command command);
  /// Runs what must have come to pass for all that is in the stream.
  void finish(StreamState &stream);
  void finish(Moment &moment);
  void finishDevice(int device);

  /// All nodes of a graph, each after those that it must come after.
  Result run(const GraphState &graph);

private:
  bool ready(const StreamState &stream) const;
  void runFirst(StreamState &stream);
  /// Random: one command of any stream that can go on. False: there is none.
  bool step();
  uint64_t draw(uint64_t below) { return random() % below; }

  std::vector<std::shared_ptr<StreamState>> streams;
};

Result beginCapture(const std::shared_ptr<StreamState> &stream);
Result endCapture(const std::shared_ptr<StreamState> &stream, std::shared_ptr<GraphState> &graph);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_STREAMS_H

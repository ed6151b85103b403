//===- Streams.h - work that waits in streams, and when it comes to pass ------===//
#ifndef DLC_TEST_EMULATOR_STREAMS_H
#define DLC_TEST_EMULATOR_STREAMS_H

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  /// Of work that waits for other ranks: asked when the command's turn has come, again and again,
  /// until it may be done.
  std::function<bool()> arrived;
};

/// Which waits of a stream come to nothing, to see who misses them: of each `of` in turn, number
/// `wait`.
struct Dropped {
  int device = -1, stream = 0, wait = 0, of = 1;
};

struct StreamState {
  int device = 0;
  /// Among those that were made on the device since waits are dropped, and how often it waited.
  int number = 0, waits = 0;
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
  /// Lets other threads do something.
  std::function<void()> pause;

  void drop(const Dropped &which);
  /// Whether the stream's next wait is to be dropped.
  bool drops(StreamState &stream) const;

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
  /// Late: does what the stream's first command needs, or that one.
  void advance(StreamState &stream);
  /// Random: one command of any stream that can go on. False: there is none.
  bool step();
  uint64_t draw(uint64_t below) { return random() % below; }

  std::vector<std::shared_ptr<StreamState>> streams;
  Dropped dropped;
  std::map<int, int> made; ///< streams, by device
};

Result beginCapture(const std::shared_ptr<StreamState> &stream);
Result endCapture(const std::shared_ptr<StreamState> &stream, std::shared_ptr<GraphState> &graph);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_STREAMS_H

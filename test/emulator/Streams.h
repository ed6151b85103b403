//===- Streams.h - streams of the emulated GPU and the order of their commands -===//
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

/// The point in a stream that an event was recorded at last.
struct Moment {
  std::shared_ptr<StreamState> stream;
  bool passed = false;
  std::chrono::steady_clock::time_point time;
  /// In a capture: the graph nodes that precede the event.
  std::shared_ptr<CaptureState> capture;
  std::vector<int> nodes;
};

struct Command {
  /// Exactly one of `work`, `record` and `wait` is set.
  std::function<Result()> work;
  std::shared_ptr<Moment> record;
  std::shared_ptr<Moment> wait;
  /// For collective operations that wait for other ranks: polled when the command is first in its
  /// stream. The command runs once this function returns true.
  std::function<bool()> arrived;
};

/// Waits of a stream that are skipped, to test that missing synchronization is detected: wait
/// number `wait` of every `of` consecutive waits is skipped.
struct Dropped {
  int device = -1, stream = 0, wait = 0, of = 1;
};

struct StreamState {
  int device = 0;
  /// Index of the stream among those created on the device since the last call of Scheduler::drop,
  /// and the number of waits so far.
  int number = 0, waits = 0;
  std::deque<Command> queue;
  std::shared_ptr<CaptureState> capture;
  /// In a capture: the graph nodes that the next command depends on.
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

/// When a command that is able to run does run.
enum class Order {
  /// Only when the host waits for the command's result; no unrelated command runs with it.
  Late,
  /// At any time and in any order that the events permit.
  Random,
  /// Immediately when the command is enqueued.
  Eager,
};

class Scheduler {
public:
  Order order = Order::Late;
  std::mt19937_64 random;
  /// Called with the nonzero error code that a command of a device returns.
  std::function<void(int device, Result)> failed;
  /// Lets other host threads run.
  std::function<void()> pause;

  void drop(const Dropped &which);
  /// Checks whether the stream's next wait is skipped, and counts that wait.
  bool drops(StreamState &stream) const;

  std::shared_ptr<StreamState> create(int device);
  /// Creates a default stream, whose number is -1.
  std::shared_ptr<StreamState> createDefault(int device);
  void destroy(const std::shared_ptr<StreamState> &stream);
  void enqueue(const std::shared_ptr<StreamState> &stream, Command command);
  /// Runs all commands of the stream, and commands of other streams that they wait for.
  void finish(StreamState &stream);
  void finish(Moment &moment);
  void finishDevice(int device);

  /// Runs all nodes of a graph, each node after its predecessors.
  Result run(const GraphState &graph);

private:
  bool ready(const StreamState &stream) const;
  void runFirst(StreamState &stream);
  /// Order Late: runs the stream's first command if it is ready, else a command that the first one
  /// waits for.
  void advance(StreamState &stream);
  /// Order Random: runs one ready command of any stream. Returns false if there is none.
  bool step();
  uint64_t draw(uint64_t below) { return random() % below; }

  std::vector<std::shared_ptr<StreamState>> streams;
  Dropped dropped;
  std::map<int, int> made; ///< number of streams created, by device
};

Result beginCapture(const std::shared_ptr<StreamState> &stream);
Result endCapture(const std::shared_ptr<StreamState> &stream, std::shared_ptr<GraphState> &graph);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_STREAMS_H

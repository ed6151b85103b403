//===- World.h - processes that run one program together ---------------------===//
//
// A world consists of this process's rank, the number of ranks, and an engine (dlc/engine.h) that
// executes collectives. All ranks start the same collectives in the same order. Collectives are
// asynchronous: a thread of the world drives the engine, and callers wait only for results that
// they need.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_WORLD_H
#define DLC_RUNTIME_COLLECTIVE_WORLD_H

#include "dlc/DType.h"
#include "dlc/Export.h"
#include "dlc/engine.h"
#include "runtime/collective/Combine.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

enum class Collective : uint8_t { AllReduce, AllGather, ReduceScatter, Broadcast, OrderedSum };

DLC_EXPORT std::string_view collectiveName(Collective what);

/// Arguments of a collective. The first four kinds are described in dlc/engine.h. OrderedSum: there
/// are `chunks` chunks of `share` elements; each rank has chunks / size of them in `from`, in rank
/// order. to[share] is the sum of all chunks, added in chunk order. The result is therefore bitwise
/// independent of the world size.
struct CollectiveCall {
  Collective collective = Collective::AllReduce;
  DType type = DType::F32;
  const void *from = nullptr;
  void *to = nullptr;
  uint64_t share = 0;
  Reduction reduction = Reduction::Sum;
  int root = 0;
  int chunks = 0;
};

/// Handle of a collective in progress. It may be destroyed without waiting.
class Ticket {
public:
  struct State;
  Ticket() = default;
  explicit Ticket(std::shared_ptr<State> given) : state(std::move(given)) {}
  explicit operator bool() const { return state != nullptr; }

private:
  friend class World;
  std::shared_ptr<State> state;
};

/// Times of a collective by std::chrono::steady_clock: when it was requested, passed to the engine,
/// and completed.
struct TicketTimes {
  int64_t askedNs = 0, startNs = 0, endNs = 0;
};

/// Performance of the network: an all-reduce of n bytes takes about latency + n * secondsPerByte.
struct WorldLink {
  double latency = 0, secondsPerByte = 0;
};

/// Interface of an executor of collectives outside the engine, such as a device for operands in its
/// memory. The world also monitors ranks that wait in a carrier. All functions are called by a
/// thread of the world.
class CollectiveExecutor {
public:
  virtual ~CollectiveExecutor() = default;
  /// Returns an error that has occurred in the carrier, or an empty string. Polled several times a
  /// second.
  virtual std::string fault() = 0;
  /// Called when the world ends: all waits for other ranks must stop and fail.
  virtual void end(const std::string &why) = 0;
};

class DLC_EXPORT World {
public:
  /// Returns the process's world, which is formed at the first call: by the launcher (mpirun,
  /// srun), or with one rank if no launcher started the process. Throws dlc::Error.
  static World &ofProcess();
  /// Forms the process's world now, with this engine instead of a launcher's. Throws if it is
  /// already formed.
  static World &formOfProcess(const dlc_engine_table &engine, const void *argument);

  /// Creates a world of one rank, without an engine.
  World();
  /// Creates a world that uses an engine. `argument` is passed to the engine's `open` and must be
  /// valid until the constructor returns.
  explicit World(const dlc_engine_table &engine, const void *argument = nullptr);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int rank() const { return here.rank; }
  int size() const { return here.size; }
  /// Rank and number of ranks on this machine.
  int localRank() const { return here.local_rank; }
  int localSize() const { return here.local_size; }
  /// Name of the engine; "" in a world of one rank.
  std::string_view engine() const;

  /// Starts a collective; may be called by any thread. All ranks must start the same collectives in
  /// the same order. The memory must not be changed until the collective is done. Throws dlc::Error
  /// if the call is invalid.
  Ticket start(const CollectiveCall &call);
  /// done() tests whether a collective is complete; wait() waits for it. Both throw dlc::Error if
  /// it failed. An empty ticket counts as complete.
  bool done(const Ticket &ticket);
  void wait(const Ticket &ticket);
  void run(const CollectiveCall &call) { wait(start(call)); }
  /// Returns the times of a completed collective.
  static TicketTimes times(const Ticket &ticket);

  void barrier();
  /// Checks that all ranks have the same lines; this costs one small reduction. All ranks must call
  /// it together. If the lines differ, it throws dlc::Error on all ranks; the message has the ranks
  /// that differ from rank 0 and the first differing line. `what` describes the lines, as in "the
  /// program"; `hint` tells the user what to do.
  void agree(std::string_view what, std::span<const std::string> lines,
             std::string_view hint = "start all ranks with the same file");
  /// Returns the performance of the network, which is measured within some milliseconds at the
  /// first call. All ranks must call it together. The result is the same on all ranks.
  const WorldLink &link();

  /// Registers a carrier, which the world monitors until forget(). If the world has already ended,
  /// the carrier's end() is called at once.
  void watch(CollectiveExecutor &carrier);
  void forget(CollectiveExecutor &carrier);
  /// carriedStarts() and carriedEnds() report the start and the end of a carrier's collective,
  /// during which this rank waits for others. carriedStarts() returns the number of the collective.
  uint64_t carriedStarts();
  void carriedEnds(uint64_t number);

  /// Sets the training step that this rank executes, for messages.
  void setStep(int64_t step);
  /// Reports a sign of life of this rank. A rank counts as hanging if another rank waits for it and
  /// it gives no sign of life for $DLC_WORLD_TIMEOUT seconds. Calls of start() and wait() are signs
  /// of life too, and so are running threads.
  void alive();
  /// Aborts all ranks and prints rank, step and message once. If ranks are separate processes, this
  /// terminates the process. If they are threads, this function and all waits throw.
  [[noreturn]] void abort(const std::string &message);
  /// Leaves the world: notifies the other ranks, waits for them and closes the engine. Later calls
  /// are errors. Also called by the destructor.
  void leave();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  dlc_engine_place here{0, 1, 0, 1};
};

/// Creates a world of `size` ranks for as many threads of this process. Each thread must destroy
/// its own world.
DLC_EXPORT std::vector<std::unique_ptr<World>> createLoopbackWorlds(int size);

/// Parameters of a simulated world, which measures the overlap of collectives with computation.
/// Collectives are executed one after the other and take latency + bytes / bandwidth. The other
/// ranks contribute zeros and cause no load.
struct SimulatedWorldOptions {
  int size = 2;
  double latencySeconds = 0, bytesPerSecond = 0;
};
DLC_EXPORT std::unique_ptr<World> createSimulatedWorld(const SimulatedWorldOptions &how);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_WORLD_H

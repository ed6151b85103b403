//===- World.h - processes that run one program together ----------------------===//
//
// A world is this process's rank, the size, and an engine (dlc/engine.h) that carries collectives.
// All ranks start the same collectives in the same order. They go on behind the caller's work: a
// thread of the world drives the engine, nobody waits who does not need a result.
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

/// The first four as dlc/engine.h says. OrderedSum: of `chunks` chunks, each of share elements,
/// every rank has chunks / size, in order; to[share] becomes their sum, added in the order of all
/// chunks, so that it does not depend on the world's size.
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

/// A collective under way. Holds nothing that must be waited for.
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

/// By std::chrono::steady_clock. start: when the engine was given the call.
struct TicketTimes {
  int64_t askedNs = 0, startNs = 0, endNs = 0;
};

/// An all-reduce of n bytes takes about latency + n * secondsPerByte.
struct WorldLink {
  double latency = 0, secondsPerByte = 0;
};

/// What carries collectives beside the engine: a device, for ranks whose operands lie on it. The
/// world watches those ranks, too. All of this is called by a thread of the world's.
class Carrier {
public:
  virtual ~Carrier() = default;
  /// Empty, or what has gone wrong; asked some times a second.
  virtual std::string fault() = 0;
  /// The world ends: whoever waits for other ranks must go on, and fail.
  virtual void end(const std::string &why) = 0;
};

class DLC_EXPORT World {
public:
  /// The process's own. Formed when it is first asked for: by mpirun or srun, or of one rank where
  /// no launcher started the process. Throws dlc::Error.
  static World &ofProcess();
  /// The same, formed now by this engine and no launcher's. Throws where it is formed already.
  static World &formOfProcess(const dlc_engine_table &engine, const void *argument);

  /// Of one rank, without an engine.
  World();
  /// `argument` must live until this returns.
  explicit World(const dlc_engine_table &engine, const void *argument = nullptr);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int rank() const { return here.rank; }
  int size() const { return here.size; }
  /// Among the ranks of this machine.
  int localRank() const { return here.local_rank; }
  int localSize() const { return here.local_size; }
  /// Its name; "" in a world of one.
  std::string_view engine() const;

  /// From any thread; all ranks must start the same calls in one order. Memory is the collective's
  /// until it is done. Throws dlc::Error for a call that cannot be.
  Ticket start(const CollectiveCall &call);
  /// These throw dlc::Error where the collective failed. An empty ticket is done.
  bool done(const Ticket &ticket);
  void wait(const Ticket &ticket);
  void run(const CollectiveCall &call) { wait(start(call)); }
  /// Of one that is done.
  static TicketTimes times(const Ticket &ticket);

  void barrier();
  /// All ranks must call these together.
  ///
  /// Throws dlc::Error on all ranks, which names those whose lines are others than rank 0's, and
  /// the first such line. `what` is what the lines are, as in "the program"; `mend` what to do.
  /// Where they are alike, it is one small reduction.
  void agree(std::string_view what, std::span<const std::string> lines,
             std::string_view mend = "start all ranks with the same file");
  /// Measured when first asked for, in some milliseconds; the same on all ranks.
  const WorldLink &link();

  /// Until it is forgotten. Where the world has ended already, the carrier is told at once.
  void watch(Carrier &carrier);
  void forget(Carrier &carrier);
  /// A carrier's collective: this rank has started it, and waits for others until it ends. Returns
  /// its number.
  uint64_t carriedStarts();
  void carriedEnds(uint64_t number);

  /// For messages: the step that this rank is in.
  void setStep(int64_t step);
  /// A sign of life. A rank that others wait for and that shows none for $DLC_WORLD_TIMEOUT seconds
  /// is taken for hung; start() and wait() are signs too, and threads at work.
  void alive();
  /// Ends all ranks: shows rank, step and message once. Between processes this ends the process;
  /// within one all that wait throw, and this does.
  [[noreturn]] void abort(const std::string &message);
  /// Tells the others that this rank is through, waits for them, and closes the engine: what is
  /// asked of the world from then on is an error. So does the destructor.
  void leave();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  dlc_engine_place here{0, 1, 0, 1};
};

/// N ranks in one process, for as many threads; each world is destroyed by its rank.
DLC_EXPORT std::vector<std::unique_ptr<World>> loopbackWorlds(int size);

/// A world that only waits, to measure what hides behind work: one collective after the other takes
/// latency + bytes / bandwidth; the other ranks give zeros and take nothing.
struct WaitingWorld {
  int size = 2;
  double latencySeconds = 0, bytesPerSecond = 0;
};
DLC_EXPORT std::unique_ptr<World> waitingWorld(const WaitingWorld &how);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_WORLD_H

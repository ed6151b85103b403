//===- Session.h - a program made ready to run --------------------------------===//
#ifndef DLC_RUNTIME_SESSION_SESSION_H
#define DLC_RUNTIME_SESSION_SESSION_H

#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc::runtime {

class Session;
class World;
class StateSet;
struct Argument;

struct SessionOptions {
  /// 0: as many as the program was compiled for, at most those of the machine.
  int threads = 0;
  /// States of the same name are this session's memory.
  const Session *shareState = nullptr;
  /// For tests of programs on several CPU devices, see StreamOrder; empty: what $DLC_STREAM_ORDER
  /// says.
  std::string streamOrder;
  /// Give a GPU its commands one by one instead of as graphs, to see which goes wrong;
  /// $DLC_PLAIN_LAUNCHES asks for it too.
  bool plainLaunches = false;
  /// Where collectives meet, which outlives the session; null: the process's own.
  World *world = nullptr;
  /// So many bytes at least are reduced at once, where they lie side by side; nothing: by the
  /// world's link. The same on all ranks.
  std::optional<double> bucketBytes = {};
};

struct MemoryFigures {
  uint64_t arenaBytes = 0, scratchBytes = 0, constantBytes = 0, codeBytes = 0;
  /// Without what another session lends.
  uint64_t stateBytes = 0;
};

/// One command as it runs here, for `inspect` and traces.
struct CommandInfo {
  std::string name, op, implementation, loc;
  double flops = 0, bytes = 0;
  std::string device;
  uint32_t stream = 0;
};

/// One execution of a command. `command` indexes Session::commands().
struct TraceEvent {
  uint32_t command;
  int64_t startNs, endNs;
  uint32_t stream = 0;
};

/// Everything is resolved when the session is made; run() patches pointers and walks a list. Two
/// threads that use one session are serialised.
class DLC_EXPORT Session {
public:
  /// Throws dlc::Error if the program is wrong or this machine lacks what it needs.
  explicit Session(std::shared_ptr<const Program> program, const SessionOptions &options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const Plan &plan() const;
  const std::shared_ptr<const Program> &program() const;
  int threads() const;
  bool isParallel() const; ///< Whether its last run had work for several threads.
  /// Whom its collectives meet; null: it has none, and was given no world.
  World *world() const;
  MemoryFigures memory() const;

  /// Contiguous arrays in the order of plan().inputs and plan().outputs. No allocation. Throws
  /// dlc::Error for a run-time error (index out of range, an input that differs from its fixed
  /// value). One after the first update of state leaves that torn (State.h). Where other ranks are
  /// in the midst of the same run, an error there ends them all.
  void run(std::span<const void *const> inputs, std::span<void *const> outputs);
  /// The same for arrays on any device (Binder.h).
  void runOn(std::span<const Argument> inputs, std::span<const Argument> outputs);

  /// What lives from run to run.
  StateSet &states() const;
  /// Binds a state to the caller's memory (State.h), which runs then read and write where it is.
  /// `bytes` are what there is of it. Throws dlc::Error where the program is not on the host alone,
  /// and for another size.
  void bindState(size_t index, void *memory, uint64_t bytes);

  std::vector<CommandInfo> commands() const;
  /// How many graphs of commands GPUs were given so far.
  uint64_t graphLaunches() const;
  void setTrace(bool enabled);
  /// What was traced since the last call; empties it.
  std::vector<TraceEvent> takeTrace();
  /// takeTrace() as Chrome trace JSON into a file.
  void writeTrace(const std::string &path);

private:
  void runOnHost(std::span<const void *const> inputs, std::span<void *const> outputs);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_SESSION_H

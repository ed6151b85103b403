//===- HostExecutor.h - preparation and execution of commands on the CPU -----===//
#ifndef DLC_RUNTIME_SESSION_HOSTEXECUTOR_H
#define DLC_RUNTIME_SESSION_HOSTEXECUTOR_H

#include "runtime/device/cpu/Memory.h"
#include "runtime/session/Binder.h"
#include "runtime/session/HostWork.h"
#include "runtime/session/LoopAddresses.h"
#include "runtime/session/Session.h"

#include <exception>
#include <map>
#include <memory>
#include <vector>

namespace dlc::runtime {

/// A top-level command and its number, which counts all commands of the program in order, including
/// those in bodies.
struct NumberedCommand {
  const Command *command;
  uint32_t number;
};

/// Returns the number of commands in a command: itself plus all commands of its bodies.
uint32_t countCommands(const Command &command);

/// Appends to `infos` the descriptions (Session::commands()) of the commands and of those in their
/// bodies, in order.
void describeCommands(const Plan &plan, const std::vector<Command> &commands,
                      std::vector<CommandInfo> &infos);

int64_t getNowNs();

[[noreturn]] void failInCommand(const CommandInfo &info, uint32_t number, const std::string &what);

/// Receiver of a stream's record and wait commands.
class EventSink {
public:
  virtual ~EventSink() = default;
  virtual void record(uint32_t event) = 0;
  virtual void wait(uint32_t event) = 0;
};

/// Executes a list of CPU commands. The constructor does all preparation and adds the
/// implementation names to `infos`, the descriptions of the program's commands.
class HostExecutor {
public:
  HostExecutor(const Plan &plan, Binder &binder, const Span &code, std::vector<CommandInfo> &infos,
               const std::vector<NumberedCommand> &commands, int threads, World *world,
               EventSink *events = nullptr);
  HostExecutor(const HostExecutor &) = delete;

  /// Returns the index of the first top-level step that writes state; all steps before it write
  /// none.
  uint32_t firstUpdate() const { return update; }
  uint32_t end() const { return static_cast<uint32_t>(steps.size()); }
  uint64_t scratchBytes() const { return scratch.size(); }
  int threads() const { return threadCount; }

  void run(uint32_t first, uint32_t last) { runRange(first, last, events); }

  /// after() returns the index of the step that follows step `at` and its bodies. opAt() and
  /// eventAt() return properties of step `at`.
  uint32_t after(uint32_t at) const { return steps[at].end(); }
  Op opAt(uint32_t at) const { return steps[at].op; }
  uint32_t eventAt(uint32_t at) const { return static_cast<uint32_t>(steps[at].bytes); }

  bool tracing = false;
  uint32_t stream = 0; ///< stream number in traces
  std::vector<TraceEvent> events;

private:
  /// A prepared command. The bodies of an if or loop follow it in the list.
  struct Step {
    Op op;
    uint32_t command;
    uint32_t bodyEnd = 0, elseEnd = 0;
    uint32_t groupEnd = 0; ///< end of the group's steps for the first of concurrent loops
    void **buffers = nullptr;
    // members for launch and library commands
    HostWork work = {};
    int threads = 1;
    uint64_t scratchOffset = 0; ///< offset of the step's part of the scratch memory
    void *workspace = nullptr;  ///< workspace of a library call in the arena, if large enough
    // members for copy and fill commands; for record and wait, `bytes` is the event
    uint64_t bytes = 0;
    uint8_t byte = 0;
    // members for loops; the first four are indices into `buffers`, -1 if absent
    int8_t trip = -1, cond = -1, index = -1, count = -1;
    int64_t max = -1;
    bool overflowIsError = false;
    LoopAddresses *loopAddresses = nullptr;

    /// Returns the index of the step that follows this step, its bodies and the loops that are
    /// concurrent with it.
    uint32_t end() const { return groupEnd ? groupEnd : elseEnd; }
  };

  /// One of a group of concurrent loops.
  struct ConcurrentLoop {
    uint32_t at; ///< index of its step
    std::exception_ptr error;
    std::vector<TraceEvent> events;
  };

  void bind(void **slot, uint32_t index);
  int8_t bindNext(Step &step, int64_t index, int8_t &next);
  void prepare(const Command &command, uint32_t &number, uint64_t &scratchBytes);
  void prepareAll(const std::vector<Command> &commands, uint32_t &number, uint64_t &scratchBytes);
  void prepareBodies(const Command &command, size_t at, Step &step, uint32_t &number,
                     uint64_t &scratchBytes);
  void prepareWork(const Command &command, Step &step, uint64_t &scratchBytes);
  /// Prepares a group of concurrent loops. The commands of each loop use one thread and their own
  /// part of the scratch memory.
  void prepareGroup(const NumberedCommand *first, const NumberedCommand *last,
                    uint64_t &scratchBytes);

  /// runRange(), runLoop() and runGroup() append to `trace` if `tracing` is set.
  void runRange(uint32_t begin, uint32_t end, std::vector<TraceEvent> &trace);
  void runWork(const Step &step);
  void runLoop(uint32_t at, std::vector<TraceEvent> &trace);
  /// Runs a group of concurrent loops, of which the step `at` is the first.
  void runGroup(uint32_t at, std::vector<TraceEvent> &trace);

  const Plan &plan;
  Binder &binder;
  const Span &code;
  std::vector<CommandInfo> &infos;
  int threadCount;
  World *world;
  EventSink *eventSink;
  uint32_t update = UINT32_MAX, topLevel = 0;
  int stepThreads; ///< threads of the command that is being prepared
  Block scratch;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::deque<LoopAddresses> loops;
  LoopAddresses *loopAddresses = nullptr; ///< loop whose body is being prepared
  std::vector<void *> slots;
  size_t usedSlots = 0;
  std::vector<Step> steps;
  /// Groups of concurrent loops, by the step index of the first loop of the group.
  std::map<uint32_t, std::vector<ConcurrentLoop>> groups;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_HOSTEXECUTOR_H

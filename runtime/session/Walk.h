//===- Walk.h - a list of commands made ready for the CPU, and walked ---------===//
#ifndef DLC_RUNTIME_SESSION_WALK_H
#define DLC_RUNTIME_SESSION_WALK_H

#include "runtime/device/cpu/Memory.h"
#include "runtime/session/Binder.h"
#include "runtime/session/HostWork.h"
#include "runtime/session/Moving.h"
#include "runtime/session/Session.h"

#include <memory>
#include <vector>

namespace dlc::runtime {

/// A command of the list itself, and its number: that of its own in the order in which all commands
/// stand in the program, those of bodies among them.
struct Numbered {
  const Command *command;
  uint32_t number;
};

/// How many commands one is, with those of its bodies.
uint32_t commandCount(const Command &command);

/// What Session::commands() says of the command and those of its bodies, in order.
void describeCommands(const Plan &plan, const std::vector<Command> &commands,
                      std::vector<CommandInfo> &infos);

int64_t nowNs();

[[noreturn]] void failIn(const CommandInfo &info, uint32_t number, const std::string &what);

/// What a stream that reaches a record or wait calls.
class EventSink {
public:
  virtual ~EventSink() = default;
  virtual void record(uint32_t event) = 0;
  virtual void wait(uint32_t event) = 0;
};

/// Everything is resolved when it is made. `infos` are the program's; implementations are added.
class Walk {
public:
  Walk(const Plan &plan, Binder &binder, const Span &code, std::vector<CommandInfo> &infos,
       const std::vector<Numbered> &commands, int threads, World *world,
       EventSink *events = nullptr);
  Walk(const Walk &) = delete;

  /// Steps before this one write no state.
  uint32_t firstUpdate() const { return update; }
  uint32_t end() const { return static_cast<uint32_t>(steps.size()); }
  uint64_t scratchBytes() const { return scratch.size(); }
  int threads() const { return threadCount; }

  void run(uint32_t first, uint32_t last) { runRange(first, last); }

  /// The step after the one at `at`, past its bodies; and what that one does.
  uint32_t after(uint32_t at) const { return steps[at].elseEnd; }
  Op opAt(uint32_t at) const { return steps[at].op; }
  uint32_t eventAt(uint32_t at) const { return static_cast<uint32_t>(steps[at].bytes); }

  bool tracing = false;
  uint32_t stream = 0; ///< for traces
  std::vector<TraceEvent> events;

private:
  /// One prepared command. Bodies of if and loop follow it in the list.
  struct Step {
    Op op;
    uint32_t command;
    uint32_t bodyEnd = 0, elseEnd = 0;
    void **buffers = nullptr;
    // launch and library
    HostWork work = {};
    void *room = nullptr; ///< a library's in the arena, where that is enough
    // copy and fill; of record and wait the event
    uint64_t bytes = 0;
    uint8_t byte = 0;
    // loop: slots of `buffers`, -1 where absent
    int8_t trip = -1, cond = -1, index = -1, count = -1;
    int64_t max = -1;
    bool overflowIsError = false;
    Moving *moving = nullptr;
  };

  void bind(void **slot, uint32_t index);
  int8_t bindNext(Step &step, int64_t index, int8_t &next);
  void prepare(const Command &command, uint32_t &number, uint64_t &scratchBytes);
  void prepareAll(const std::vector<Command> &commands, uint32_t &number, uint64_t &scratchBytes);
  void prepareBodies(const Command &command, size_t at, Step &step, uint32_t &number,
                     uint64_t &scratchBytes);
  void prepareWork(const Command &command, Step &step, uint64_t &scratchBytes);

  void runRange(uint32_t begin, uint32_t end);
  void runWork(const Step &step);
  void runLoop(uint32_t at);

  const Plan &plan;
  Binder &binder;
  const Span &code;
  std::vector<CommandInfo> &infos;
  int threadCount;
  World *world;
  EventSink *eventSink;
  uint32_t update = UINT32_MAX, topLevel = 0;
  Block scratch;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::deque<Moving> loops;
  Moving *moving = nullptr; ///< of the loop whose body is made ready
  std::vector<void *> slots;
  size_t usedSlots = 0;
  std::vector<Step> steps;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_WALK_H

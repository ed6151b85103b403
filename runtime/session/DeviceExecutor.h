//===- DeviceExecutor.h - submits a stream's commands to a device ------------===//
#ifndef DLC_RUNTIME_SESSION_DEVICEEXECUTOR_H
#define DLC_RUNTIME_SESSION_DEVICEEXECUTOR_H

#include "runtime/session/GraphCapture.h"
#include "runtime/session/HostExecutor.h"
#include "runtime/session/collectives/DeviceGroup.h"
#include "runtime/session/collectives/ShardCopy.h"

#include <memory>
#include <optional>
#include <vector>

namespace dlc::runtime {

/// The program's GPU modules on one device, loaded at first use.
class Modules {
public:
  Modules(const Plan &plan, const Program &program, Device &device)
      : plan(plan), program(program), device(device), loaded(plan.modules.size()) {}
  ~Modules();
  Modules(const Modules &) = delete;
  void *function(const Kernel &kernel);

private:
  const Plan &plan;
  const Program &program;
  Device &device;
  std::vector<void *> loaded;
};

/// Submits the commands of a stream to the device's stream, adjacent capturable commands as one
/// graph. The host waits only for the conditions of branches and loops, which it evaluates.
class DeviceExecutor {
public:
  /// `threads`: number of host threads, if the device executes host code. `world`: world of the
  /// collectives; null if there are none.
  DeviceExecutor(const Plan &plan, Binder &binder, Device &device, Modules &modules,
                 const Span &code, std::vector<CommandInfo> &infos,
                 const std::vector<NumberedCommand> &commands, int threads, uint32_t number,
                 EventSink *events, bool plainLaunches, World *world);
  ~DeviceExecutor();
  DeviceExecutor(const DeviceExecutor &) = delete;

  /// Forms the device group for the stream's collectives, if it has any. Called by all ranks
  /// together, before the first run.
  void formGroup();
  /// Submits all commands to the executor's stream, or to `on`, a stream of the caller. Calls
  /// `updating(context)` before the first command that writes state.
  void run(void (*updating)(void *), void *context);
  void run(void (*updating)(void *), void *context, void *on);
  void synchronize();
  /// Returns whether the stream has collectives of several ranks, which must run in the executor's
  /// own stream.
  bool hasGroup() const { return needsGroup; }
  void *handle() const { return stream; }
  Device &on() const { return device; }
  uint64_t graphLaunches() const;
  uint64_t scratchBytes() const { return scratch.size(); }

  bool tracing = false;
  /// Returns the trace of the stream since run() began. To be called after synchronize(). The event
  /// `base` was recorded at the host time baseNs.
  std::vector<TraceEvent> takeTrace(void *base, int64_t baseNs);

private:
  struct Call {
    void *handle = nullptr;
    uint64_t workspace = 0;
  };
  /// A prepared command. The steps of a branch's or loop's bodies are in `body` and `orElse`.
  struct Step {
    const Command *command;
    uint32_t number;
    std::vector<void *> buffers;   ///< buffer addresses
    std::vector<void *> arguments; ///< pointers to the elements of `buffers`, for kernel launches
    void *function = nullptr, *call = nullptr;  ///< kernel or library call of a GPU command
    HostWork work;                              ///< host code, executed by the device table's `run`
    std::unique_ptr<CollectiveDesc> collective; ///< collective, executed by the device group
    std::optional<std::vector<ShardPiece>> own; ///< pieces that this rank copies (ShardCopy.h)
    DeviceExecutor *executor = nullptr;
    int64_t trip = -1, cond = -1, index = -1, count = -1; ///< indices in `buffers`; -1: none
    int64_t trips = -1; ///< constant trip count; -1 if known only at run time
    int direction = DLC_COPY_WITHIN;
    Device *peer = nullptr;
    bool updates = false;
    LoopAddresses loopAddresses; ///< address slots in a loop's body that advance in each iteration
    std::vector<std::unique_ptr<Step>> body, orElse;
  };
  struct Timed {
    uint32_t number;
    void *from, *to;
  };

  std::unique_ptr<Step> prepare(const Command &command, uint32_t &number);
  void prepareLibrary(const Command &command, Step &step);
  void prepareHostWork(const Command &command, Step &step);
  void prepareCopy(const Command &command, Step &step);
  void prepareCollective(const Command &command, Step &step);
  void prepareShardCopy(const Command &command, Step &step);
  void prepareLoop(const Command &command, Step &step);
  void runCollective(const Step &step);
  void findGraphs();
  bool isCapturable(const Step &step) const;
  void addAddresses(Step &step);
  void runCapture(GraphCapture &range);
  void runStep(Step &step);
  static int runHostWork(void *step, void *const *addresses, char *error, size_t size);
  void runTimed(Step &step);
  void runLoop(Step &step);
  template <typename T> T read(const void *address);
  void writeInteger(void *address, int64_t value);
  void destroy(const Timed &one);
  void release();

  const Plan &plan;
  Binder &binder;
  Device &device;
  Modules &modules;
  const Span &code;
  std::vector<CommandInfo> &infos;
  int threads;
  uint32_t streamNumber;
  EventSink *events;
  World *world;
  bool needsGroup = false;
  std::shared_ptr<DeviceGroup> group; ///< null before formGroup() and in a world of one rank
  void *stream = nullptr;
  void *target = nullptr; ///< stream to which commands are submitted: `stream`, or the caller's
  std::vector<void *> calls;
  std::vector<std::unique_ptr<LibraryCall>> hostCalls;
  uint64_t scratchWanted = 0;
  Block scratch; ///< scratch memory of host code, shared because its commands run one at a time
  LoopAddresses *loopAddresses = nullptr; ///< loop whose body is being prepared
  uint64_t workspaceBytes = 0;
  DeviceMemory workspace;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<std::unique_ptr<GraphCapture>> captures; ///< captured ranges of steps, in step order
  std::vector<void *> addresses;
  std::vector<Timed> timed;
  /// Host values that are being copied to the device. They are kept alive until the stream has
  /// completed.
  std::vector<std::unique_ptr<int64_t>> pending;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_DEVICEEXECUTOR_H

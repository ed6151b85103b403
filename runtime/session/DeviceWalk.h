//===- DeviceWalk.h - a stream's commands given to a device --------------------===//
#ifndef DLC_RUNTIME_SESSION_DEVICEWALK_H
#define DLC_RUNTIME_SESSION_DEVICEWALK_H

#include "runtime/session/Captured.h"
#include "runtime/session/DeviceGroup.h"
#include "runtime/session/OwnRows.h"
#include "runtime/session/Walk.h"

#include <memory>
#include <optional>
#include <vector>

namespace dlc::runtime {

/// The program's modules on one device, loaded as they are asked for.
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

/// Commands are given to the device's stream, those that stand together as one graph; nothing here
/// waits for them but branches and loops, which the host decides.
class DeviceWalk {
public:
  /// Where the device runs host code, `threads` of the host do. Collectives meet in the world;
  /// null: there are none.
  DeviceWalk(const Plan &plan, Binder &binder, Device &device, Modules &modules, const Span &code,
             std::vector<CommandInfo> &infos, const std::vector<Numbered> &commands, int threads,
             uint32_t number, EventSink *events, bool plainLaunches, World *world);
  ~DeviceWalk();
  DeviceWalk(const DeviceWalk &) = delete;

  /// Before the first run, where ranks share what lies here: by all of them together.
  void formGroup();
  /// Calls `updating` before the first command that writes state.
  void run(void (*updating)(void *), void *context);
  void synchronize();
  void *handle() const { return stream; }
  Device &on() const { return device; }
  uint64_t graphLaunches() const;
  uint64_t scratchBytes() const { return scratch.size(); }

  bool tracing = false;
  /// What the stream did since run() began; after synchronize(), `base` being recorded at baseNs.
  std::vector<TraceEvent> takeTrace(void *base, int64_t baseNs);

private:
  struct Call {
    void *handle = nullptr;
    uint64_t workspace = 0;
  };
  /// One prepared command and those of its bodies.
  struct Step {
    const Command *command;
    uint32_t number;
    std::vector<void *> buffers;                ///< addresses
    std::vector<void *> arguments;              ///< pointers to these, as launch takes them
    void *function = nullptr, *call = nullptr;  ///< a GPU's
    HostWork work;                              ///< host code, run by this
    std::unique_ptr<CollectiveDesc> collective; ///< what the group carries
    std::optional<std::vector<OwnPiece>> own;   ///< this rank's rows, to copy
    DeviceWalk *walk = nullptr;
    int64_t trip = -1, cond = -1, index = -1, count = -1; ///< slots
    int64_t trips = -1;                                   ///< where they are known ahead
    int direction = DLC_COPY_WITHIN;
    Device *peer = nullptr;
    bool updates = false;
    Moving moving; ///< a loop's
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
  void prepareOwnRows(const Command &command, Step &step);
  void prepareLoop(const Command &command, Step &step);
  void runCollective(const Step &step);
  void findGraphs();
  bool isCapturable(const Step &step) const;
  void addAddresses(Step &step);
  void runCaptured(Captured &range);
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
  std::shared_ptr<DeviceGroup> group; ///< null: not formed so far, or there is nobody to share with
  void *stream = nullptr;
  std::vector<void *> calls;
  std::vector<std::unique_ptr<LibraryCall>> hostCalls;
  uint64_t scratchWanted = 0;
  Block scratch;            ///< of host code: one command at a time
  Moving *moving = nullptr; ///< of the loop whose body is made ready
  uint64_t workspaceBytes = 0;
  DeviceMemory workspace;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<std::unique_ptr<Captured>> captured; ///< in the order of their steps
  std::vector<void *> addresses;
  std::vector<Timed> timed;
  /// What copies to the device read until they are done: kept until the stream is through.
  std::vector<std::unique_ptr<int64_t>> pending;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_DEVICEWALK_H

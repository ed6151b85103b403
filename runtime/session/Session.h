//===- Session.h - a program that is ready to run ----------------------------===//
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

class Device;
class DeviceEvent;
class Session;
class World;
class StateSet;
struct BoundArray;

struct SessionOptions {
  /// Number of threads. 0: the number for which the program was compiled, at most the number of
  /// CPUs.
  int threads = 0;
  /// Session whose memory is used for states that both programs have by the same name; null: none.
  const Session *shareState = nullptr;
  /// Order in which commands of different streams are executed, for tests of programs with several
  /// CPU devices (see parseStreamOrder). Empty: the value of $DLC_STREAM_ORDER.
  std::string streamOrder;
  /// Submits GPU commands one by one instead of as graphs, to locate a failing command. Also
  /// enabled by $DLC_PLAIN_LAUNCHES.
  bool plainLaunches = false;
  /// World in which the program's collectives run; must outlive the session. Null: the process's
  /// world.
  World *world = nullptr;
  /// Bucket size in bytes up to which all-reduces of adjacent memory are merged (Buckets.h).
  /// Default: derived from the performance of the world's network. Must be the same on all ranks.
  std::optional<double> bucketBytes = {};
};

struct MemoryFigures {
  uint64_t arenaBytes = 0, scratchBytes = 0, constantBytes = 0, codeBytes = 0;
  /// Size of the states, without those that are stored in another session's memory.
  uint64_t stateBytes = 0;
};

/// Description of a command of a session, for `dlc inspect` and traces.
struct CommandInfo {
  std::string name, op, implementation, loc;
  double flops = 0, bytes = 0;
  std::string device;
  uint32_t stream = 0;
};

/// Start and end time of one execution of a command. `command` indexes Session::commands().
struct TraceEvent {
  uint32_t command;
  int64_t startNs, endNs;
  uint32_t stream = 0;
};

/// A loaded program with its memory, ready to run. The constructor does all preparation; run() only
/// updates buffer addresses and executes the commands. Calls from several threads are serialized.
class DLC_EXPORT Session {
public:
  /// Throws dlc::Error if the program is invalid or the machine lacks a required feature or device.
  explicit Session(std::shared_ptr<const Program> program, const SessionOptions &options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const Plan &plan() const;
  const std::shared_ptr<const Program> &program() const;
  int threads() const;
  bool isParallel() const; ///< whether the last run had work for several threads
  /// Returns the world of the program's collectives; null if the program has no collectives and the
  /// options specify no world.
  World *world() const;
  MemoryFigures memory() const;

  /// Runs the program on contiguous host arrays in the order of plan().inputs and plan().outputs.
  /// Does not allocate memory. Throws dlc::Error for a run-time error (index out of range, an input
  /// that differs from its fixed value). An error after the first update of a state leaves the
  /// states torn, that is, partially updated (State.h). If other ranks take part in the run, an
  /// error ends all ranks.
  void run(std::span<const void *const> inputs, std::span<void *const> outputs);
  /// Runs the program as run() does, on arrays that may be on any device (Binder.h).
  void runOn(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs);

  /// Returns the device on which callers may enqueue runs (StreamRunner.h); null if there is none.
  Device *enqueueDevice() const;
  /// Enqueues a run in a stream of enqueueDevice() and returns an event at the end of the run. The
  /// stream must have completed the run before the arrays are freed, or read by another stream or
  /// the host. The host waits for the run only if an array is in host memory or while tracing, and
  /// for the earlier work of the stream if the program was compiled for fixed values of inputs.
  /// Runs of the session in different streams are ordered on the device.
  std::shared_ptr<DeviceEvent> enqueue(std::span<const BoundArray> inputs,
                                       std::span<const BoundArray> outputs, void *stream);

  /// Returns the states: tensors that persist between runs.
  StateSet &states() const;
  /// Binds a state to the caller's memory of `bytes` bytes on `device` (null: the host), which runs
  /// then read and write in place (State.h). Throws dlc::Error if the size or the device differs
  /// from the state's, or if the memory is on the host and the program uses other devices, too.
  void bindState(size_t index, void *memory, uint64_t bytes, const Device *device = nullptr);

  std::vector<CommandInfo> commands() const;
  /// Returns the number of graph launches on GPUs so far.
  uint64_t graphLaunches() const;
  void setTrace(bool enabled);
  /// Returns the trace events recorded since the last call and clears them.
  std::vector<TraceEvent> takeTrace();
  /// Writes takeTrace() to a file as a Chrome trace (JSON).
  void writeTrace(const std::string &path);

private:
  void runOnHost(std::span<const void *const> inputs, std::span<void *const> outputs);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_SESSION_H

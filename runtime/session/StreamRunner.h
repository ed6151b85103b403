//===- StreamRunner.h - execution of several streams -------------------------===//
#ifndef DLC_RUNTIME_SESSION_STREAMRUNNER_H
#define DLC_RUNTIME_SESSION_STREAMRUNNER_H

#include "runtime/session/HostExecutor.h"

#include <memory>

namespace dlc::runtime {

class Device;

/// Order of execution of commands of different streams, as far as events permit a choice.
struct StreamOrder {
  /// AtOnce: each stream is executed by its own thread. The other orders are for tests in which the
  /// host executes all streams: a single thread executes one command at a time, and the memory of
  /// all devices except the command's is made inaccessible. Late: stream `number` is delayed as
  /// long as events permit. First: stream `number` runs ahead as far as events permit. For streams
  /// of other devices, which always run concurrently, First means that this stream is waited for
  /// first. Random: random order with seed `number`.
  enum class Kind { AtOnce, Late, First, Random } kind = Kind::AtOnce;
  uint64_t number = 0;
};

/// Parses "late:N", "first:N" or "random:SEED"; an empty text means AtOnce. Throws dlc::Error.
StreamOrder parseStreamOrder(const std::string &text);

/// Runs a program with several streams, or with one stream on another device than the host.
class StreamRunner {
public:
  StreamRunner(const Plan &plan, const Program &program, Binder &binder, const Span &code,
               std::vector<CommandInfo> &infos, int threads, StreamOrder order, bool plainLaunches,
               World *world);
  ~StreamRunner();

  /// Runs all streams. If a stream fails, the others are stopped and its error is thrown.
  void run(bool tracing, std::vector<TraceEvent> &events);
  /// Returns the device on which callers may enqueue runs: that of the only stream, if it is not
  /// executed by the host and has no collectives of several ranks. Otherwise returns null.
  Device *enqueueDevice() const;
  /// Submits the commands of the only stream to a stream of enqueueDevice(), without waiting for
  /// them.
  void enqueue(void *stream);
  /// Returns whether the last run has started to write states.
  bool hasWrittenState() const;
  uint64_t scratchBytes() const;
  uint64_t graphLaunches() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STREAMRUNNER_H

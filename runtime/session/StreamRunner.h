//===- StreamRunner.h - several streams at once -------------------------------===//
#ifndef DLC_RUNTIME_SESSION_STREAMRUNNER_H
#define DLC_RUNTIME_SESSION_STREAMRUNNER_H

#include "runtime/session/Walk.h"

#include <memory>

namespace dlc::runtime {

/// In which order commands of different streams are carried out, where events leave it open.
struct StreamOrder {
  /// AtOnce: each stream on a thread of its own. The others are for tests, where the host runs all
  /// streams: one thread that runs one command at a time, while the memory of every device but the
  /// command's is out of reach. Late: a stream, `number`, is left behind for as long as events
  /// allow. First: it goes as far as they allow before others do; on other devices, whose streams
  /// are at once, it is waited for first. Random: by the seed `number`.
  enum class Kind { AtOnce, Late, First, Random } kind = Kind::AtOnce;
  uint64_t number = 0;
};

/// "late:N", "first:N", "random:SEED"; "" is at once. Throws dlc::Error.
StreamOrder parseStreamOrder(const std::string &text);

/// Runs the streams of a program that has several, or one that is not the host's.
class StreamRunner {
public:
  StreamRunner(const Plan &plan, const Program &program, Binder &binder, const Span &code,
               std::vector<CommandInfo> &infos, int threads, StreamOrder order, bool plainLaunches,
               World *world);
  ~StreamRunner();

  /// Returns when all streams are done, or one has failed and all have stopped: throws its error.
  void run(bool tracing, std::vector<TraceEvent> &events);
  /// Whether the last run came to write state.
  bool wroteState() const;
  uint64_t scratchBytes() const;
  uint64_t graphLaunches() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STREAMRUNNER_H

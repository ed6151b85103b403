//===- BackgroundTuning.h - kernels measured in the background of a program that runs ---===//
#ifndef DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H
#define DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H

#include "tools/compiler/Source.h"
#include "tools/compiler/Turns.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

namespace dlc {

struct CompileOptions;
struct Ready;

/// What a program is compiled with behind the one that runs.
struct BackgroundWork {
  /// Measures for so many seconds at most, as `stopped` and the turns allow; false when nothing is
  /// left to measure.
  std::function<bool(double seconds)> measure;
  /// Compiles with what is known then; null where nothing would change.
  std::function<std::shared_ptr<const Ready>(const Ready &now)> compile;
};

/// A thread that measures, compiles and swaps, again and again, until all is measured or its time
/// is over. Whoever runs asks for now() and keeps what it gets until the run is over: so each swap
/// is between two runs.
class BackgroundTuning {
public:
  BackgroundTuning(std::shared_ptr<const Ready> first, double seconds);
  ~BackgroundTuning();
  BackgroundTuning(const BackgroundTuning &) = delete;

  void start(BackgroundWork work);
  std::shared_ptr<const Ready> now() const;
  /// Somebody waits for the end.
  bool isStopped() const { return stopped; }
  size_t swaps() const { return swapped; }
  bool isDone() const { return done; }
  /// Until the measuring is over.
  void wait();
  /// What went wrong; the program that ran goes on running.
  std::string error() const;

private:
  void work(const BackgroundWork &how);

  mutable std::mutex mutex;
  std::condition_variable over;
  std::shared_ptr<const Ready> ready;
  double seconds;
  std::atomic<bool> stopped{false}, done{false};
  std::atomic<size_t> swapped{0};
  std::string failure;
  std::thread thread;
};

/// Measures the source's kernels for these shapes behind `first`, for `tuneInBackground` seconds
/// into the database that the options name, which must be one. Later programs have the first one's
/// state.
std::shared_ptr<BackgroundTuning> tuneInBackground(std::shared_ptr<Source> source,
                                                   const CompileOptions &options,
                                                   const Shapes &shapes, const Values &values,
                                                   const std::set<std::string> &bound,
                                                   std::shared_ptr<const Ready> first);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H

//===- BackgroundTuning.h - kernel autotuning in the background of a running program ----------===//
#ifndef DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H
#define DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H

#include "tools/compiler/MeasurementMutex.h"
#include "tools/compiler/Source.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

namespace dlc {

struct CompileOptions;
struct LoadedProgram;

/// Callbacks with which a background thread measures kernels and recompiles the running program.
struct TuningCallbacks {
  /// Measures kernels for at most `seconds`. Returns early if BackgroundTuning::isStopped(), and
  /// acquires the measurement lock for each measurement. Returns false if no kernel remains to be
  /// measured.
  std::function<bool(double seconds)> measure;
  /// Recompiles the program with the measurements made so far. Returns null if the program would
  /// not change.
  std::function<std::shared_ptr<const LoadedProgram>(const LoadedProgram &now)> compile;
};

/// Thread that repeatedly measures kernels, recompiles and swaps the program, until all kernels are
/// measured or the time limit is reached. A caller takes the program with now() and holds it until
/// its run has ended, so a swap takes effect between two runs.
class BackgroundTuning {
public:
  BackgroundTuning(std::shared_ptr<const LoadedProgram> first, double seconds);
  ~BackgroundTuning();
  BackgroundTuning(const BackgroundTuning &) = delete;

  void start(TuningCallbacks work);
  std::shared_ptr<const LoadedProgram> now() const;
  /// Returns true if the destructor has requested the background thread to stop.
  bool isStopped() const { return stopped; }
  size_t swaps() const { return swapped; }
  bool isDone() const { return done; }
  /// Blocks until the background tuning thread has finished.
  void wait();
  /// Error message of the background thread, or an empty string. After an error, the current
  /// program continues to run.
  std::string error() const;

private:
  void work(const TuningCallbacks &how);

  mutable std::mutex mutex;
  std::condition_variable over;
  std::shared_ptr<const LoadedProgram> ready;
  double seconds;
  std::atomic<bool> stopped{false}, done{false};
  std::atomic<size_t> swapped{0};
  std::string failure;
  std::thread thread;
};

/// Tunes the kernels of the source's program for these input shapes in the background, while
/// `first` runs. Measurements take at most `options.tuneInBackground` seconds and are written to
/// the tuning database, which the options must name. Each later program shares the state of the
/// previous one.
std::shared_ptr<BackgroundTuning> tuneInBackground(std::shared_ptr<Source> source,
                                                   const CompileOptions &options,
                                                   const Shapes &shapes, const Values &values,
                                                   const std::set<std::string> &bound,
                                                   std::shared_ptr<const LoadedProgram> first);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_BACKGROUNDTUNING_H

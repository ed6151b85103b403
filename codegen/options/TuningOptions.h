//===- TuningOptions.h - options for measuring kernels --------------------===//
#ifndef DLC_CODEGEN_OPTIONS_TUNINGOPTIONS_H
#define DLC_CODEGEN_OPTIONS_TUNINGOPTIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

struct TuningEntry;

/// What to do for an operation that is not in the tuning database: use the cost model, report an
/// error, or measure the candidates.
enum class TuningMissPolicy { Model, Error, Measure };

/// Choice of a kernel for one operation, which is reported as soon as it is made.
struct TunedOperation {
  enum class From { Known, Measured, Disturbed, LeftOver, Rejected };
  std::vector<std::string> names; ///< names of the operation in the source model, outermost first
  From from = From::Known;
  /// Measured times of the candidates, new or from the database; null if the cost model decides.
  const TuningEntry *entry = nullptr;
  std::string chosen;  ///< name of the selected implementation
  double estimate = 0; ///< time of the selected implementation by the cost model, in microseconds
  size_t candidates = 0;
  size_t times = 1;   ///< number of identical operations in the model
  bool tried = false; ///< for From::Disturbed: whether the operation will be measured again
  size_t resumed = 0; ///< number of timings that an interrupted measurement had saved
};

struct TuningOptions {
  /// Path of the tuning database; empty: tuning.jsonl in the cache folder, if there is a cache
  /// folder.
  std::string database;
  /// Whether the database is read only, so that new measurements are not saved.
  bool pinned = false;
  TuningMissPolicy onMiss = TuningMissPolicy::Model;
  /// Whether operations that are already in the database are measured again.
  bool again = false;
  /// Time limit for all measurements, in seconds; 0: no limit.
  double budgetSeconds = 0;
  /// Maximum bytes of scratch memory of a candidate; 0: unlimited. Ignored if no candidate meets
  /// it.
  int64_t workspaceBytes = 0;
  /// Called for each operation with several candidates, with the number of operations that are done
  /// and their total number.
  std::function<void(const TunedOperation &, size_t done, size_t of)> report;
  /// Maximum number of measurement sessions for an operation whose fastest candidate is still
  /// uncertain.
  int sessions = 3;
  /// Minimum time in seconds between two measurement sessions of the same operation.
  double spreadSeconds = 0;
  /// Callback that is polled during measurements. They stop as soon as it returns true.
  std::function<bool()> stop;
  /// Callback that acquires the machine for one timed run. It is released when the returned object
  /// is destroyed. For callers that also run programs at the same time.
  std::function<std::shared_ptr<void>()> turn;
  /// Hook for tests: called before a candidate is built, run and timed, with the stage "build",
  /// "run" or "time".
  std::function<void(std::string_view implementation, std::string_view stage)> fault;
  /// Hook for tests that corrupts a candidate's result before the result is checked.
  std::function<void(std::string_view implementation, void *data, size_t bytes)> spoil;
};

} // namespace dlc
#endif

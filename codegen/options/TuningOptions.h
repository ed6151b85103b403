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

/// Behavior for an operation that is not in the tuning database.
enum class OnMiss { Model, Error, Measure };

/// Outcome for one operation, reported as soon as it is known.
struct TunedOperation {
  enum class From { Known, Measured, Disturbed, LeftOver, Rejected };
  std::vector<std::string> names; ///< names in the source, the outermost first
  From from = From::Known;
  /// Measurement, stored or new; null if the cost model decides.
  const TuningEntry *entry = nullptr;
  std::string chosen;  ///< implementation that is used
  double estimate = 0; ///< its time estimated by the cost model, in microseconds
  size_t candidates = 0;
  size_t times = 1;   ///< number of such operations in the model
  bool tried = false; ///< Disturbed: it will be measured again
  size_t resumed = 0; ///< number of timings reused from an interrupted measurement
};

struct TuningOptions {
  /// Tuning database; empty: tuning.jsonl in the cache folder, if there is one.
  std::string database;
  /// Whether the database is read-only.
  bool pinned = false;
  OnMiss onMiss = OnMiss::Model;
  /// Whether to measure operations again that are in the database.
  bool again = false;
  /// Time limit for measuring; 0: none.
  double budgetSeconds = 0;
  /// Maximum scratch memory of a candidate, unless no candidate fits; 0: unlimited.
  int64_t workspaceBytes = 0;
  /// Called for each operation with several candidates, with the number done and the total number.
  std::function<void(const TunedOperation &, size_t done, size_t of)> report;
  /// Maximum number of measurement sessions per operation while its choice is not settled.
  int sessions = 3;
  /// Minimum time in seconds between two sessions of one operation, if it needs more than one.
  double spreadSeconds = 0;
  /// Measuring stops as soon as this returns true.
  std::function<bool()> stop;
  /// Called before each timed run; the run lasts until the returned object is released. For callers
  /// that run programs at the same time.
  std::function<std::shared_ptr<void>()> turn;
  /// For tests: called when a candidate is built, run and timed ("build", "run", "time").
  std::function<void(std::string_view implementation, std::string_view stage)> fault;
  /// For tests: corrupts a candidate's result before it is checked.
  std::function<void(std::string_view implementation, void *data, size_t bytes)> spoil;
};

} // namespace dlc
#endif

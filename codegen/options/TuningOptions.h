//===- TuningOptions.h - whether, for how long and into which file kernels are measured ----===//
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

/// What happens to an operation that the database does not know.
enum class OnMiss { Model, Error, Measure };

/// What became of one operation: told as soon as it is known.
struct TunedOperation {
  enum class From { Known, Measured, Disturbed, LeftOver, Rejected };
  std::vector<std::string> names; ///< of the source, the outermost first
  From from = From::Known;
  /// The contest, kept or just held; null where the cost model decides.
  const TuningEntry *entry = nullptr;
  std::string chosen;  ///< the implementation that is taken
  double estimate = 0; ///< its time by the cost model, in microseconds
  size_t candidates = 0;
  size_t times = 1;   ///< how often the model has an operation like this
  bool tried = false; ///< Disturbed: measured again later
  size_t resumed = 0; ///< timings that somebody else had made who was stopped
};

struct TuningOptions {
  /// The database; empty: tuning.jsonl in the cache folder, if there is one.
  std::string database;
  /// Only read.
  bool pinned = false;
  OnMiss onMiss = OnMiss::Model;
  /// Measure what is known too.
  bool again = false;
  /// Stop measuring after so long; 0: when all is measured.
  double budgetSeconds = 0;
  /// Candidates that need more scratch memory are out, if others are there; 0: any.
  int64_t workspaceBytes = 0;
  /// Told of each operation with a choice, with how many are done and how many there are.
  std::function<void(const TunedOperation &, size_t done, size_t of)> report;
  /// So often at most an operation is measured, as long as its choice is not settled.
  int sittings = 3;
  /// Seconds between two sittings of one operation, at least, where more than one is needed.
  double spreadSeconds = 0;
  /// Measuring stops as soon as this is true.
  std::function<bool()> stop;
  /// Called before each run that is timed; the run's turn is over when what it returns is gone. For
  /// who runs programs meanwhile.
  std::function<std::shared_ptr<void>()> turn;
  /// For tests: called where a candidate is built, run and timed ("build", "run", "time").
  std::function<void(std::string_view implementation, std::string_view stage)> fault;
  /// For tests: spoils a candidate's result before it is checked.
  std::function<void(std::string_view implementation, void *data, size_t bytes)> spoil;
};

} // namespace dlc
#endif

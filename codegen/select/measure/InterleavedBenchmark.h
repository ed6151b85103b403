//===- InterleavedBenchmark.h - interleaved benchmark of candidates -------===//
//
// The candidates run one after another, round by round, so that temporary slowdowns of the machine
// affect all of them. Times are compared within each round, because the ratio of two times of one
// round varies far less than either time. The order is certain if, for each candidate, the 99 %
// confidence interval of its median ratio to the best is either above 1 or within the tie
// threshold. A benchmark also runs for a minimum time, because the speed of machines drifts.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_INTERLEAVEDBENCHMARK_H
#define DLC_CODEGEN_SELECT_MEASURE_INTERLEAVEDBENCHMARK_H

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// Measured time of one or several runs, and whether other work on the machine disturbed it.
struct TimeSample {
  double microseconds = 0;
  bool disturbed = false;
};

/// Interface of anything that can be timed, by the host's clock or by a device's clock.
class Timeable {
public:
  virtual ~Timeable() = default;
  /// Returns the mean microseconds of `repeats` runs. On failure, returns std::nullopt and sets
  /// `reason`.
  virtual std::optional<TimeSample> sample(int repeats, std::string &reason) = 0;
  /// Returns true if consecutive runs take the same time as separate ones. False if something must
  /// be done between runs, such as evicting caches.
  virtual bool repeatable() const { return true; }
};

/// Result of a benchmark for one candidate.
struct CandidateResult {
  double min = 0, median = 0; ///< minimum and median microseconds of the undisturbed runs
  double spread = 0;          ///< half of the times differ from the median by at most this fraction
  /// Median ratio of this candidate's time to the best candidate's, with its 99 % confidence
  /// interval.
  double slowdown = 1, slowdownLow = 1, slowdownHigh = 1;
  int runs = 0; ///< number of runs, including disturbed ones
  int samples = 0, disturbed = 0;
  std::string failed;
};

/// Microseconds of each candidate in all rounds so far; NaN if the candidate was disturbed or did
/// not run in a round.
using Rounds = std::vector<std::vector<double>>;

struct BenchmarkLimits {
  /// Minimum duration of a benchmark in microseconds, unless only one candidate remains.
  double least = 100e3;
  double undecided = 600e3; ///< duration in microseconds after which an uncertain order is accepted
  /// Duration in microseconds after which a benchmark with too few undisturbed runs ends.
  double patience = 3e6;
  /// Called before each timing with the candidate's index. The returned object is released when the
  /// timing ends.
  std::function<std::shared_ptr<void>(size_t candidate)> turn;
  /// Called between timings with the rounds so far, at most ten times per second.
  std::function<void(const Rounds &)> progress;
};

struct BenchmarkResult {
  std::vector<CandidateResult> candidates; ///< results in the order of the candidates
  size_t best = 0;
  /// Whether there are enough undisturbed runs for a result, and whether the order of the fastest
  /// candidates is certain.
  bool enough = false, certain = false;
  int disturbed = 0;
};

/// Two candidates whose time ratio is below this threshold are considered equally fast.
constexpr double kTie = 1.03;

/// Runs an interleaved benchmark of the candidates. `begun`: rounds of an interrupted benchmark of
/// the same candidates, which is resumed.
BenchmarkResult runBenchmark(std::span<Timeable *const> candidates,
                             const BenchmarkLimits &limits = {}, const Rounds &begun = {});

} // namespace dlc
#endif

//===- InterleavedBenchmark.h - interleaved benchmark of candidates -------===//
//
// The candidates run one after another, round by round, so that temporary slowdowns of the machine
// affect all of them. Times are compared within each round, because the ratio of two times of one
// round varies far less than either time. The order is certain if, for each candidate, the 99 %
// confidence interval of its median ratio to the best is either above 1 or within the tie
// threshold. A benchmark also runs for a minimum time, because the speed of machines drifts.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_INTERLEAVEDBENCHMARK_H
#define DLC_CODEGEN_SELECT_INTERLEAVEDBENCHMARK_H

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// One measurement, and whether other work on the machine disturbed it.
struct Sample {
  double microseconds = 0;
  bool disturbed = false;
};

/// Something that can be timed, by the host's clock or by a device's own.
class Timed {
public:
  virtual ~Timed() = default;
  /// Returns the mean microseconds of `repeats` runs. On failure, returns std::nullopt and sets
  /// `reason`.
  virtual std::optional<Sample> sample(int repeats, std::string &reason) = 0;
  /// Returns true if consecutive runs are as fast as separate ones. False if something must be done
  /// between runs.
  virtual bool repeatable() const { return true; }
};

/// Result of a benchmark for one candidate.
struct CandidateResult {
  double min = 0, median = 0; ///< microseconds of undisturbed runs
  double spread = 0;          ///< half of the times are within this relative distance of the median
  /// Median ratio of its time to the best candidate's, with the 99 % confidence interval.
  double slowdown = 1, slowdownLow = 1, slowdownHigh = 1;
  int runs = 0; ///< including disturbed runs
  int samples = 0, disturbed = 0;
  std::string failed;
};

/// Microseconds of each candidate's rounds so far; NaN where it was disturbed or did not run.
using Rounds = std::vector<std::vector<double>>;

struct BenchmarkLimits {
  double least = 100e3;     ///< minimum microseconds, unless only one candidate is left
  double undecided = 600e3; ///< microseconds after which an uncertain order is accepted
  double patience =
      3e6; ///< microseconds after which a benchmark with too few undisturbed runs ends
  /// Called before each timing with the candidate's index; the timing lasts until the returned
  /// object is released.
  std::function<std::shared_ptr<void>(size_t candidate)> turn;
  /// Called between timings with the rounds so far, at most ten times per second.
  std::function<void(const Rounds &)> progress;
};

struct BenchmarkResult {
  std::vector<CandidateResult> candidates; ///< in the order of the candidates
  size_t best = 0;
  /// Whether there are enough undisturbed runs for a result, and whether the order is certain.
  bool enough = false, certain = false;
  int disturbed = 0;
};

/// Times whose ratio is below this threshold are considered equal.
constexpr double kTie = 1.03;

/// `begun`: rounds of an interrupted benchmark of the same candidates, which is resumed.
BenchmarkResult runBenchmark(std::span<Timed *const> candidates, const BenchmarkLimits &limits = {},
                             const Rounds &begun = {});

} // namespace dlc
#endif

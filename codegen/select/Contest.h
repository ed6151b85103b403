//===- Contest.h - timing candidates in turns -----------------------------===//
//
// The candidates run one after another, round by round, so that what slows the machine down for a
// while slows them all. They are compared round by round, too: the ratio of two times of one round
// is far steadier than either. The order is certain when each is behind the best, or not more than
// a tie behind it, by the whole of the interval that holds the median of its ratios at 99 %, and
// when that has been so for a while: machines have moods.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_CONTEST_H
#define DLC_CODEGEN_SELECT_CONTEST_H

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// One measurement, and whether other work on the machine got in the way.
struct Sample {
  double microseconds = 0;
  bool disturbed = false;
};

/// Something that can be timed: by the clock of the host, or by a device's own.
class Timed {
public:
  virtual ~Timed() = default;
  /// Microseconds of one run, the mean of `repeats` of them. Nothing, and why in `reason`, when it
  /// fails.
  virtual std::optional<Sample> sample(int repeats, std::string &reason) = 0;
  /// Whether several runs at a time tell the same as one: not where something must happen between
  /// them.
  virtual bool repeatable() const { return true; }
};

/// What a contest says of one candidate.
struct Standing {
  double min = 0, median = 0; ///< microseconds of runs that nothing disturbed
  double spread = 0;          ///< half of them lie within so much of the median, relatively
  /// The median of its time over the best candidate's, with the interval that holds it at 99 %.
  double behind = 1, behindLow = 1, behindHigh = 1;
  int runs = 0; ///< all of them
  int samples = 0, disturbed = 0;
  std::string failed;
};

/// Microseconds of each candidate's rounds, as far as they were played; NaN where it was disturbed,
/// or sat out.
using Rounds = std::vector<std::vector<double>>;

struct ContestLimits {
  double least = 100e3;     ///< microseconds that a contest goes on, where the lead is not large
  double undecided = 600e3; ///< microseconds after which an uncertain order stays uncertain
  double patience =
      3e6; ///< and after which a contest in which too few runs were undisturbed is given up
  /// Called before each timing with the candidate's number; the timing's turn is over when what it
  /// returns is gone.
  std::function<std::shared_ptr<void>(size_t candidate)> turn;
  /// Called between timings with what was timed so far, not more often than each tenth of a second.
  std::function<void(const Rounds &)> progress;
};

struct ContestResult {
  std::vector<Standing> standings; ///< in the candidates' order
  size_t best = 0;
  /// Enough undisturbed runs to say anything; whether the order is certain.
  bool enough = false, certain = false;
  int disturbed = 0;
};

/// Within so much, times are the same.
constexpr double kTie = 1.03;

/// `begun`: rounds of a contest between the same candidates that was broken off; it goes on from
/// there.
ContestResult runContest(std::span<Timed *const> candidates, const ContestLimits &limits = {},
                         const Rounds &begun = {});

} // namespace dlc
#endif

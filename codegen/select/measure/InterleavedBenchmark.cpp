//===- InterleavedBenchmark.cpp - interleaved benchmark of candidates -----===//
#include "codegen/select/measure/InterleavedBenchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

namespace dlc {

namespace {

using Clock = std::chrono::steady_clock;
double microsecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Runs that take less than this number of microseconds are timed several at a time.
constexpr double kShortRun = 50;
/// kMinRuns: a 99 % confidence interval of a median needs at least eight pairs.
constexpr size_t kMinRuns = 8, kMaxRounds = 1000;
/// Ratios to the best candidate's time above which a candidate is dropped: kHopeless if the whole
/// confidence interval exceeds it, kFarBehind if no disturbance can explain the difference.
constexpr double kHopeless = 1.3, kFarBehind = 5;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

double computeMedian(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct CandidateRunner {
  Timeable *timed;
  /// Microseconds of the candidate in each round; NaN if disturbed or not run.
  std::vector<double> rounds;
  double fastest = 1e30; ///< microseconds of the candidate's fastest run, including disturbed ones
  bool running = true;
  int repeats = 1;
  CandidateResult standing;

  std::vector<double> times() const {
    std::vector<double> kept;
    std::copy_if(rounds.begin(), rounds.end(), std::back_inserter(kept),
                 [](double t) { return !std::isnan(t); });
    return kept;
  }
  size_t samples() const {
    return size_t(
        std::count_if(rounds.begin(), rounds.end(), [](double t) { return !std::isnan(t); }));
  }
  double median() const { return samples() ? computeMedian(times()) : fastest; }
};

struct TimeRatio {
  double median = 1, low = 0, high = 1e30;
  size_t pairs = 0;
};

/// Returns the median ratio of two candidates' times in the same rounds, with a confidence interval
/// by ranks: `outside` of the n sorted ratios are below the interval, and as many above.
TimeRatio computeTimeRatio(const CandidateRunner &runner, const CandidateRunner &best) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(runner.rounds.size(), best.rounds.size()); ++i)
    if (double r = runner.rounds[i] / best.rounds[i]; !std::isnan(r))
      ratios.push_back(r);
  if (ratios.empty())
    return {runner.median() / best.median(), 0, 1e30, 0};
  std::sort(ratios.begin(), ratios.end());
  double n = double(ratios.size());
  auto outside = size_t(std::max(0.0, std::floor((n - 2.58 * std::sqrt(n)) / 2)));
  return {ratios[ratios.size() / 2], ratios[outside], ratios[ratios.size() - 1 - outside],
          ratios.size()};
}

class InterleavedBenchmark {
public:
  InterleavedBenchmark(std::span<Timeable *const> candidates, const BenchmarkLimits &limits,
                       const Rounds &begun)
      : limits(limits) {
    size_t played = 0;
    for (const auto &rounds : begun)
      played = std::max(played, rounds.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      CandidateRunner &runner = runners.emplace_back();
      runner.timed = candidates[i];
      if (i < begun.size())
        runner.rounds = begun[i];
      runner.rounds.resize(played, kMissing);
      runner.standing.runs = int(runner.samples());
      for (double t : runner.times())
        runner.fastest = std::min(runner.fastest, t);
    }
    for (CandidateRunner &runner : runners)
      order.push_back(&runner);
  }

  BenchmarkResult run() {
    auto start = Clock::now();
    for (CandidateRunner *runner : order)
      if (auto once = sample(*runner);
          once && runner->timed->repeatable() && once->microseconds < kShortRun)
        runner->repeats =
            int(std::clamp(kShortRun / std::max(once->microseconds, 0.1), 1.0, 200.0));
    double patience = limits.patience;
    size_t begun = order.empty() ? kMaxRounds : order[0]->rounds.size();
    for (size_t round = begun; round < kMaxRounds; ++round) {
      double before = microsecondsSince(start);
      playRound();
      // The time limit is extended so that operations with long runs get at least the minimum
      // number of rounds.
      patience = std::max(patience, 2 * kMinRuns * (microsecondsSince(start) - before));
      // After the first rounds, results are evaluated only every eighth round, since they change
      // little.
      if (round > 32 && round % 8 && round != begun)
        continue;
      dropHopeless(round);
      double spent = microsecondsSince(start);
      if (!isEnough()) {
        if (spent > patience)
          break;
      } else {
        certain = isDecided();
        if (spent > limits.undecided || (certain && (isAlone() || spent > limits.least)))
          break;
      }
    }
    return result();
  }

private:
  std::optional<TimeSample> sample(CandidateRunner &runner) {
    tell();
    auto turn = limits.turn ? limits.turn(size_t(&runner - runners.data())) : nullptr;
    auto taken = runner.timed->sample(runner.repeats, runner.standing.failed);
    if (!taken)
      runner.running = false;
    return taken;
  }

  void tell() {
    if (!limits.progress || microsecondsSince(told) < 100e3)
      return;
    Rounds rounds;
    for (const CandidateRunner &runner : runners)
      rounds.push_back(runner.rounds);
    limits.progress(rounds);
    told = Clock::now();
  }

  void playRound() {
    for (CandidateRunner *runner : order) {
      runner->rounds.push_back(kMissing);
      if (!runner->running)
        continue;
      auto taken = sample(*runner);
      if (!taken)
        continue;
      runner->standing.runs += runner->repeats;
      runner->fastest = std::min(runner->fastest, taken->microseconds);
      if (!taken->disturbed) {
        runner->rounds.back() = taken->microseconds;
        continue;
      }
      ++runner->standing.disturbed;
      // The thread sleeps, because the scheduler then prefers it to other threads and the next run
      // is disturbed less.
      std::this_thread::sleep_for(
          std::chrono::microseconds(int(std::clamp(2 * taken->microseconds, 1e3, 1e4))));
    }
    // Reverses the order of the candidates in each round, so that a disturbance at the start of a
    // round affects different candidates.
    std::reverse(order.begin(), order.end());
  }

  CandidateRunner *best() {
    CandidateRunner *best = nullptr;
    for (CandidateRunner &runner : runners)
      if (runner.running && (!best || runner.median() < best->median()))
        best = &runner;
    return best;
  }

  bool isEnough() {
    for (CandidateRunner &runner : runners)
      if (runner.running && runner.samples() < kMinRuns)
        return false;
    return best();
  }

  void dropHopeless(size_t round) {
    CandidateRunner *first = best();
    for (CandidateRunner &runner : runners) {
      if (!first || &runner == first || !runner.running)
        continue;
      bool behind = computeTimeRatio(runner, *first).pairs >= kMinRuns &&
                    computeTimeRatio(runner, *first).low > kHopeless;
      bool farBehind =
          round >= 1 && first->samples() > 1 && runner.fastest > kFarBehind * first->median();
      if (behind || farBehind)
        runner.running = false;
    }
  }

  bool isAlone() const {
    return std::count_if(runners.begin(), runners.end(),
                         [](const CandidateRunner &r) { return r.running; }) < 2;
  }

  bool isDecided() {
    CandidateRunner *first = best();
    for (CandidateRunner &runner : runners) {
      if (&runner == first || !runner.running)
        continue;
      TimeRatio ratio = computeTimeRatio(runner, *first);
      bool isBehind = ratio.low > 1, isTie = ratio.low > 1 / kTie && ratio.high < kTie;
      if (ratio.pairs < kMinRuns || (!isBehind && !isTie))
        return false;
    }
    return true;
  }

  BenchmarkResult result() {
    BenchmarkResult result;
    result.enough = isEnough();
    result.certain = certain;
    CandidateRunner *first = best();
    for (CandidateRunner &runner : runners) {
      CandidateResult &s = runner.standing;
      std::vector<double> times = runner.times();
      if (times.empty())
        times.push_back(runner.fastest);
      s.min = *std::min_element(times.begin(), times.end());
      s.median = computeMedian(times);
      s.samples = int(runner.samples());
      std::vector<double> away;
      for (double t : times)
        away.push_back(std::abs(t - s.median));
      s.spread = s.median > 0 ? computeMedian(away) / s.median : 0;
      if (first && &runner != first) {
        TimeRatio ratio = computeTimeRatio(runner, *first);
        s.slowdown = ratio.median;
        s.slowdownLow = ratio.pairs ? ratio.low : ratio.median;
        s.slowdownHigh = ratio.pairs ? ratio.high : ratio.median;
      } else if (first) {
        result.best = size_t(&runner - runners.data());
      }
      result.disturbed += s.disturbed;
      result.candidates.push_back(s);
    }
    return result;
  }

  const BenchmarkLimits &limits;
  std::vector<CandidateRunner> runners;
  std::vector<CandidateRunner *> order;
  Clock::time_point told = Clock::now();
  bool certain = false;
};

} // namespace

BenchmarkResult runBenchmark(std::span<Timeable *const> candidates, const BenchmarkLimits &limits,
                             const Rounds &begun) {
  return candidates.empty() ? BenchmarkResult()
                            : InterleavedBenchmark(candidates, limits, begun).run();
}

} // namespace dlc

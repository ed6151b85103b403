//===- Contest.cpp - timing candidates in turns ---------------------------===//
#include "codegen/select/Contest.h"

#include "codegen/select/Disturbance.h"

#include <chrono>
#include <thread>

namespace dlc {

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); }

/// Microseconds that one operation may take, and at most where runs are disturbed.
constexpr double kBudget = 50e3, kPatience = 1e6;
/// Shorter runs are timed several at a time.
constexpr double kShortRun = 20;
constexpr size_t kFewestRuns = 5, kMostRounds = 500;
/// A lead that counts; a lead that cannot be made up; and one that no disturbance explains.
constexpr double kLead = 1.03, kHopeless = 1.5, kFarBehind = 10;
/// A middle so far above the best is noise of another kind: more runs are better.
constexpr double kSpread = 1.25;

class Contest {
public:
  Contest(std::vector<Contestant> &contestants, bool cold) : cold(cold) {
    for (Contestant &c : contestants)
      list.push_back(&c);
  }

  bool run() {
    auto start = Clock::now();
    for (Contestant *c : list) {
      double once = sample(*c).first;
      if (!cold && once < kShortRun)
        c->repeats = int(std::clamp(kShortRun / std::max(once, 0.1), 1.0, 100.0));
    }
    for (size_t round = 0; round < kMostRounds; ++round) {
      // Back and forth: what disturbs the first in one round disturbs the last in the next.
      for (Contestant *c : list) {
        if (!c->running)
          continue;
        auto [time, disturbed] = sample(*c);
        c->fastest = std::min(c->fastest, time);
        c->runs += c->repeats;
        if (!disturbed)
          c->times.push_back(time);
        else // Who has slept is served first.
          std::this_thread::sleep_for(std::chrono::microseconds(int(std::clamp(2 * time, 1e3, 1e4))));
      }
      std::reverse(list.begin(), list.end());
      dropHopeless(round);
      double spent = since(start);
      if (isEnough() && (isDecided() || spent > (isNoisy() ? 4 * kBudget : kBudget)))
        return true;
      if (spent > kPatience)
        break;
    }
    return isEnough();
  }

private:
  /// Microseconds of a run, and whether it was disturbed.
  std::pair<double, bool> sample(Contestant &c) {
    if (cold)
      c.trial->coolConstants();
    double inLine = microsecondsInLine();
    auto start = Clock::now();
    for (int i = 0; i < c.repeats; ++i)
      if (!c.trial->run(c.failed)) {
        c.running = false;
        return {1e30, true};
      }
    double time = since(start);
    return {time / c.repeats, microsecondsInLine() - inLine > 3 + 0.02 * time};
  }

  /// Those still running, the fastest first.
  std::vector<Contestant *> running() const {
    std::vector<Contestant *> result;
    for (Contestant *c : list)
      if (c->running)
        result.push_back(c);
    std::stable_sort(result.begin(), result.end(), [](Contestant *x, Contestant *y) { return x->best() < y->best(); });
    return result;
  }

  bool isEnough() const {
    for (Contestant *c : list)
      if (c->running && c->times.size() < kFewestRuns)
        return false;
    return true;
  }

  void dropHopeless(size_t round) {
    auto order = running();
    if (order.empty() || order[0]->times.size() < kFewestRuns)
      return;
    for (Contestant *c : order) {
      bool measured = c->times.size() >= kFewestRuns && c->best() > kHopeless * order[0]->middle();
      bool farBehind = round >= kFewestRuns && c->fastest > kFarBehind * order[0]->middle();
      if (c != order[0] && (measured || farBehind))
        c->running = false;
    }
  }

  /// The best is ahead by its best and by its usual time, or alone.
  bool isDecided() const {
    auto order = running();
    if (order.size() < 2)
      return true;
    return order[1]->best() > kLead * order[0]->best() && order[1]->middle() > kLead * order[0]->middle() && !isNoisy();
  }

  bool isNoisy() const {
    auto order = running();
    return !order.empty() && order[0]->middle() > kSpread * order[0]->best();
  }

  std::vector<Contestant *> list;
  bool cold;
};

} // namespace

double Contestant::middle() const {
  if (times.empty())
    return fastest;
  std::vector<double> sorted = times;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return sorted[sorted.size() / 2];
}

bool runContest(std::vector<Contestant> &contestants, bool coldConstants) {
  return contestants.empty() || Contest(contestants, coldConstants).run();
}

} // namespace dlc

//===- Decide.cpp - kernel choice from several measurement sessions -------===//
#include "codegen/select/Decide.h"

#include "codegen/providers/Provider.h"
#include "codegen/select/measure/InterleavedBenchmark.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace dlc {

namespace {

/// Threshold of the time ratio to the best candidate. A candidate whose ratio may be below the
/// threshold may be as fast as the best one.
constexpr double kBeaten = 1.01;

/// Prior standard deviation of the logarithm of a time ratio between sessions: kSpread if both
/// candidates run on the same kind of execution units, kSpreadOfUnits otherwise. The prior has the
/// weight of kBelief sessions.
constexpr double kSpread = 0.03, kSpreadOfUnits = 0.15, kBelief = 2;

/// Additional standard deviation between different times of day, which the sessions of one tuning
/// run, seconds apart, cannot show. AMX tiles are shared with other threads on the same core. On
/// the machine where this was measured, the load of these threads changed by the minute: one matmul
/// took 1.27 times another's time, and 0.93 times some minutes later. Vector units are hardly
/// affected.
constexpr double kDrift = 0.005, kDriftOfUnits = 0.12, kSessionsOfDrift = 8;

/// Maximum number of measurement sessions that are stored per candidate; older ones are discarded.
constexpr size_t kMaxKept = 24;

bool usesSharedUnits(const TunedCandidate &c) {
  const Provider *provider = findProvider(c.kernel);
  return provider && provider->sharesUnits(c.implementation);
}

/// Returns the quantile of Student's t-distribution for a two-sided 95 % confidence interval.
double getStudentQuantile(size_t freedom) {
  constexpr double table[] = {12.7, 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  return freedom < std::size(table) ? table[freedom] : 2.1;
}

bool isTimed(const TunedCandidate &c) { return c.rejected.empty() && c.median > 0; }

const TunedCandidate *findBest(const TuningEntry &entry) {
  const TunedCandidate *best = nullptr;
  for (const TunedCandidate &c : entry.candidates)
    if (isTimed(c) && (!best || std::tie(c.slowdown, c.implementation) <
                                    std::tie(best->slowdown, best->implementation)))
      best = &c;
  return best;
}

/// Clamps outliers to a maximum distance from the median, so that a disturbed session has limited
/// influence.
void clampOutliers(std::vector<double> &logs, double believed) {
  if (logs.size() < 3)
    return;
  auto middle = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
  };
  double center = middle(logs);
  std::vector<double> away;
  for (double each : logs)
    away.push_back(std::abs(each - center));
  double most = 3 * std::max(1.48 * middle(away), believed);
  for (double &each : logs)
    each = std::clamp(each, center - most, center + most);
}

/// Sets `slowdown` and its confidence interval for all candidates and sorts them, the best first.
void rankCandidates(TuningEntry &entry) {
  // The slowdown is the mean ratio in the sessions that measured the candidate, because later
  // sessions measure only the fast candidates.
  for (TunedCandidate &c : entry.candidates) {
    std::vector<double> logs;
    for (double slowdown : c.sessions)
      if (slowdown > 0)
        logs.push_back(std::log(slowdown));
    clampOutliers(logs, kSpread);
    if (!logs.empty())
      c.slowdown = std::exp(std::accumulate(logs.begin(), logs.end(), 0.0) / double(logs.size()));
  }
  if (const TunedCandidate *found = findBest(entry)) {
    TunedCandidate best = *found;
    for (TunedCandidate &c : entry.candidates)
      if (isTimed(c)) {
        bool isBest = c.implementation == best.implementation && c.kernel == best.kernel;
        RelativeTime lead = isBest ? RelativeTime{1, 1, 1} : relativeTime(c, best);
        c.slowdown = std::max(1.0, lead.ratio);
        c.slowdownLow = lead.low;
        c.slowdownHigh = std::max(1.0, lead.high);
      }
  }
  std::stable_sort(entry.candidates.begin(), entry.candidates.end(),
                   [](const TunedCandidate &x, const TunedCandidate &y) {
                     return isTimed(x) != isTimed(y) ? isTimed(x)
                                                     : isTimed(x) && x.slowdown < y.slowdown;
                   });
}

} // namespace

RelativeTime relativeTime(const TunedCandidate &candidate, const TunedCandidate &over) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(candidate.sessions.size(), over.sessions.size()); ++i)
    if (candidate.sessions[i] > 0 && over.sessions[i] > 0)
      logs.push_back(std::log(candidate.sessions[i] / over.sessions[i]));
  if (logs.empty())
    logs.push_back(std::log(candidate.slowdown / over.slowdown));
  bool alike = usesSharedUnits(candidate) == usesSharedUnits(over);
  double believed = alike ? kSpread : kSpreadOfUnits, drift = alike ? kDrift : kDriftOfUnits;
  clampOutliers(logs, believed);
  double n = double(logs.size()), mean = 0, squares = 0;
  for (double each : logs)
    mean += each / n;
  for (double each : logs)
    squares += (each - mean) * (each - mean);
  double ofSessions = (kBelief * believed * believed + squares) / (kBelief + n - 1) / n;
  double ofDrift = drift * drift / std::ceil(n / kSessionsOfDrift);
  double half =
      getStudentQuantile(logs.size() + size_t(kBelief) - 1) * std::sqrt(ofSessions + ofDrift);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half),
          n >= 3 && ofSessions < ofDrift};
}

const TunedCandidate *TuningEntry::choice() const {
  const TunedCandidate *best = findBest(*this), *chosen = best;
  for (const TunedCandidate &c : candidates)
    if (isTimed(c) && &c != best && relativeTime(c, *best).low <= kBeaten &&
        std::tie(c.estimate, c.implementation) < std::tie(chosen->estimate, chosen->implementation))
      chosen = &c;
  return chosen;
}

/// Returns true if `which` holds for a candidate that may be faster than the choice by more than
/// the tie threshold.
template <typename Which> static bool hasRival(const TuningEntry &entry, Which which) {
  const TunedCandidate *choice = entry.choice();
  return std::any_of(entry.candidates.begin(), entry.candidates.end(),
                     [&](const TunedCandidate &c) {
                       if (&c == choice || !isTimed(c))
                         return false;
                       RelativeTime lead = relativeTime(*choice, c);
                       return lead.high > kTie && which(lead);
                     });
}

bool isSettled(const TuningEntry &entry) {
  return !hasRival(entry, [](const RelativeTime &) { return true; });
}

bool needsSession(const TuningEntry &entry) {
  return hasRival(entry, [](const RelativeTime &lead) { return !lead.known; });
}

bool isContender(const TuningEntry &entry, const TunedCandidate &candidate) {
  constexpr double kOut = 1.1;
  const TunedCandidate *best = findBest(entry);
  return isTimed(candidate) && relativeTime(candidate, *best).low < kOut;
}

TuningEntry mergeSession(const TuningEntry &first, const TuningEntry &session) {
  TuningEntry entry = first;
  entry.unfinished = false;
  size_t before = 0;
  for (TunedCandidate &c : entry.candidates) {
    before = std::max(before, c.sessions.size());
    c.rounds.clear();
  }
  for (TunedCandidate &c : entry.candidates) {
    const TunedCandidate *now = session.find(c.implementation);
    if (now && now->kernel == c.kernel && !now->rejected.empty()) {
      c = *now;
      continue;
    }
    if (!c.rejected.empty())
      continue;
    c.sessions.resize(before, 0);
    bool timed = now && isTimed(*now);
    c.sessions.push_back(timed ? now->slowdown : 0);
    if (c.sessions.size() > kMaxKept)
      c.sessions.erase(c.sessions.begin());
    if (!timed)
      continue;
    double weight = double(now->runs) / std::max(1, c.runs + now->runs);
    c.min = c.median > 0 ? std::min(c.min, now->min) : now->min;
    c.median = c.median > 0 ? c.median + weight * (now->median - c.median) : now->median;
    c.spread = std::max(c.spread, now->spread);
    c.runs += now->runs;
    c.disturbed += now->disturbed;
    c.error = now->error >= 0 ? now->error : c.error;
    c.checked = now->checked.empty() ? c.checked : now->checked;
    c.workspace = now->workspace;
    if (c.sessions.size() == 1)
      c.slowdown = now->slowdown;
  }
  rankCandidates(entry);
  entry.certain = isSettled(entry);
  return entry;
}

} // namespace dlc

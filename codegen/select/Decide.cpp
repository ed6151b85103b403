//===- Decide.cpp - kernel choice from several measurement sessions -------===//
#include "codegen/select/Decide.h"

#include "codegen/providers/Provider.h"
#include "codegen/select/Contest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace dlc {

namespace {

/// A candidate whose ratio to the best may be below this threshold may be as good as the best.
constexpr double kBeaten = 1.01;

/// Prior standard deviation of a ratio's logarithm between sessions, for candidates on the same and
/// on different kinds of units. kBelief is the weight of this prior in sessions.
constexpr double kSpread = 0.03, kSpreadOfUnits = 0.15, kBelief = 2;

/// Additional standard deviation between different times of day, which the sessions of one tuning
/// run, seconds apart, cannot show. AMX tiles are shared with other threads on the same core. Where
/// this was measured, their load changed by the minute: a matmul took 1.27 times another's time,
/// and 0.93 times some minutes later. Vector units are hardly affected.
constexpr double kMood = 0.005, kMoodOfUnits = 0.12, kSittingsOfMood = 8;

/// Maximum number of stored sessions; older ones are discarded.
constexpr size_t kMostKept = 24;

bool usesSharedUnits(const TunedCandidate &c) {
  const Provider *provider = providerOf(c.kernel);
  return provider && provider->sharesUnits(c.implementation);
}

/// Student's t for a two-sided 95 % confidence interval.
double student(size_t freedom) {
  constexpr double table[] = {12.7, 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  return freedom < std::size(table) ? table[freedom] : 2.1;
}

bool isTimed(const TunedCandidate &c) { return c.rejected.empty() && c.median > 0; }

const TunedCandidate *bestOf(const TuningEntry &entry) {
  const TunedCandidate *best = nullptr;
  for (const TunedCandidate &c : entry.candidates)
    if (isTimed(c) && (!best || std::tie(c.behind, c.implementation) <
                                    std::tie(best->behind, best->implementation)))
      best = &c;
  return best;
}

/// Clamps outliers: a disturbed session counts only as far off, not by how far.
void bound(std::vector<double> &logs, double believed) {
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

/// Sets `behind` and its interval for all candidates and sorts them, the best first.
void rank(TuningEntry &entry) {
  // By the mean ratio in the sessions that measured the candidate: later sessions are between the
  // fast candidates only.
  for (TunedCandidate &c : entry.candidates) {
    std::vector<double> logs;
    for (double behind : c.sittings)
      if (behind > 0)
        logs.push_back(std::log(behind));
    bound(logs, kSpread);
    if (!logs.empty())
      c.behind = std::exp(std::accumulate(logs.begin(), logs.end(), 0.0) / double(logs.size()));
  }
  if (const TunedCandidate *found = bestOf(entry)) {
    TunedCandidate best = *found;
    for (TunedCandidate &c : entry.candidates)
      if (isTimed(c)) {
        bool isBest = c.implementation == best.implementation && c.kernel == best.kernel;
        Lead lead = isBest ? Lead{1, 1, 1} : leadOf(c, best);
        c.behind = std::max(1.0, lead.ratio);
        c.behindLow = lead.low;
        c.behindHigh = std::max(1.0, lead.high);
      }
  }
  std::stable_sort(entry.candidates.begin(), entry.candidates.end(),
                   [](const TunedCandidate &x, const TunedCandidate &y) {
                     return isTimed(x) != isTimed(y) ? isTimed(x)
                                                     : isTimed(x) && x.behind < y.behind;
                   });
}

} // namespace

Lead leadOf(const TunedCandidate &candidate, const TunedCandidate &over) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(candidate.sittings.size(), over.sittings.size()); ++i)
    if (candidate.sittings[i] > 0 && over.sittings[i] > 0)
      logs.push_back(std::log(candidate.sittings[i] / over.sittings[i]));
  if (logs.empty())
    logs.push_back(std::log(candidate.behind / over.behind));
  bool alike = usesSharedUnits(candidate) == usesSharedUnits(over);
  double believed = alike ? kSpread : kSpreadOfUnits, mood = alike ? kMood : kMoodOfUnits;
  bound(logs, believed);
  double n = double(logs.size()), mean = 0, squares = 0;
  for (double each : logs)
    mean += each / n;
  for (double each : logs)
    squares += (each - mean) * (each - mean);
  double ofSittings = (kBelief * believed * believed + squares) / (kBelief + n - 1) / n;
  double ofMoods = mood * mood / std::ceil(n / kSittingsOfMood);
  double half = student(logs.size() + size_t(kBelief) - 1) * std::sqrt(ofSittings + ofMoods);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half),
          n >= 3 && ofSittings < ofMoods};
}

const TunedCandidate *TuningEntry::choice() const {
  const TunedCandidate *best = bestOf(*this), *chosen = best;
  for (const TunedCandidate &c : candidates)
    if (isTimed(c) && &c != best && leadOf(c, *best).low <= kBeaten &&
        std::tie(c.estimate, c.implementation) < std::tie(chosen->estimate, chosen->implementation))
      chosen = &c;
  return chosen;
}

/// Returns true if `which` holds for a candidate that may be faster than the choice by more than a
/// tie.
template <typename Which> static bool anyRival(const TuningEntry &entry, Which which) {
  const TunedCandidate *choice = entry.choice();
  return std::any_of(entry.candidates.begin(), entry.candidates.end(),
                     [&](const TunedCandidate &c) {
                       if (&c == choice || !isTimed(c))
                         return false;
                       Lead lead = leadOf(*choice, c);
                       return lead.high > kTie && which(lead);
                     });
}

bool isSettled(const TuningEntry &entry) {
  return !anyRival(entry, [](const Lead &) { return true; });
}

bool needsSitting(const TuningEntry &entry) {
  return anyRival(entry, [](const Lead &lead) { return !lead.known; });
}

bool isContender(const TuningEntry &entry, const TunedCandidate &candidate) {
  constexpr double kOut = 1.1;
  const TunedCandidate *best = bestOf(entry);
  return isTimed(candidate) && leadOf(candidate, *best).low < kOut;
}

TuningEntry combined(const TuningEntry &first, const TuningEntry &sitting) {
  TuningEntry entry = first;
  entry.unfinished = false;
  size_t before = 0;
  for (TunedCandidate &c : entry.candidates) {
    before = std::max(before, c.sittings.size());
    c.rounds.clear();
  }
  for (TunedCandidate &c : entry.candidates) {
    const TunedCandidate *now = sitting.find(c.implementation);
    if (now && now->kernel == c.kernel && !now->rejected.empty()) {
      c = *now;
      continue;
    }
    if (!c.rejected.empty())
      continue;
    c.sittings.resize(before, 0);
    bool sat = now && isTimed(*now);
    c.sittings.push_back(sat ? now->behind : 0);
    if (c.sittings.size() > kMostKept)
      c.sittings.erase(c.sittings.begin());
    if (!sat)
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
    if (c.sittings.size() == 1)
      c.behind = now->behind;
  }
  rank(entry);
  entry.certain = isSettled(entry);
  return entry;
}

} // namespace dlc

//===- Contest.h - timing candidates in turns -----------------------------===//
#ifndef DLC_CODEGEN_SELECT_CONTEST_H
#define DLC_CODEGEN_SELECT_CONTEST_H

#include "codegen/select/Trial.h"

#include <algorithm>

namespace dlc {

struct Contestant {
  size_t candidate = 0;
  std::unique_ptr<Trial> trial;
  /// Microseconds of runs that nothing disturbed.
  std::vector<double> times;
  /// The best of all runs.
  double fastest = 1e30;
  int repeats = 1, runs = 0;
  bool running = true;
  std::string failed;

  double best() const { return times.empty() ? fastest : *std::min_element(times.begin(), times.end()); }
  double middle() const;
};

/// Runs them in turns until their order is certain or the time is over. False when other work on the machine left too few
/// undisturbed runs to say anything.
bool runContest(std::vector<Contestant> &contestants, bool coldConstants);

} // namespace dlc
#endif

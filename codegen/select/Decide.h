//===- Decide.h - kernel choice from several measurement sessions ---------===//
//
// Candidates are measured in several sessions, because the speed of a machine drifts. For example,
// other threads on the same core may slow down its units for minutes, and all measurements within
// that time agree. Therefore, the variation of two candidates' time ratio between sessions
// determines its uncertainty. The cost model's choice is kept unless another candidate is faster by
// more than this uncertainty.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_DECIDE_H
#define DLC_CODEGEN_SELECT_DECIDE_H

#include "codegen/select/measure/TuningDatabase.h"

namespace dlc {

/// Ratio of a candidate's time to another candidate's, with its 95 % confidence interval, as far as
/// the measurement sessions determine it.
struct RelativeTime {
  double ratio = 1, low = 0, high = 1e30;
  /// Whether further sessions in this tuning run would hardly narrow the confidence interval.
  bool known = false;
};
RelativeTime relativeTime(const TunedCandidate &candidate, const TunedCandidate &over);

/// Merges the results of a measurement session, which may have fewer candidates, into earlier
/// results. Candidates that failed in the session are rejected.
TuningEntry mergeSession(const TuningEntry &first, const TuningEntry &session);

/// Returns true if no other candidate may be faster than the choice by more than the tie threshold
/// (kTie).
bool isSettled(const TuningEntry &entry);

/// Returns true if another measurement session in this tuning run would help to settle the choice.
bool needsSession(const TuningEntry &entry);

/// Returns true if the candidate may still become the choice and should be measured again.
bool isContender(const TuningEntry &entry, const TunedCandidate &candidate);

} // namespace dlc
#endif

//===- Decide.h - kernel choice from several measurement sessions ---------===//
//
// Candidates are measured in several sessions, because the speed of a machine drifts. For example,
// the load of other threads on the same core determines the speed of its units for minutes, and all
// measurements within that time agree. Therefore, the variation of two candidates' ratio between
// sessions determines its uncertainty. The cost model's choice is kept unless another candidate is
// faster by more than this uncertainty.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_DECIDE_H
#define DLC_CODEGEN_SELECT_DECIDE_H

#include "codegen/select/TuningDatabase.h"

namespace dlc {

/// Ratio of a candidate's time to another's, and its 95 % confidence interval as far as the
/// sessions can tell.
struct RelativeTime {
  double ratio = 1, low = 0, high = 1e30;
  bool known = false; ///< whether further sessions at this time would hardly narrow the interval
};
RelativeTime relativeTime(const TunedCandidate &candidate, const TunedCandidate &over);

/// Adds a session, which may have fewer candidates, to earlier results. Candidates that failed in
/// the session are rejected.
TuningEntry combined(const TuningEntry &first, const TuningEntry &session);

/// Returns true if no candidate may be faster than the choice by more than a tie.
bool isSettled(const TuningEntry &entry);

/// Returns true if another session at this time would help to settle the choice.
bool needsSession(const TuningEntry &entry);

/// Returns true if the candidate may still become the choice and should be measured again.
bool isContender(const TuningEntry &entry, const TunedCandidate &candidate);

} // namespace dlc
#endif

//===- Decide.h - which candidate to take, by several sittings ------------===//
//
// A contest is held in several sittings, since machines have moods: what neighbours on the same
// core do decides for a minute how fast its units are, and whatever is measured within that minute
// agrees with itself. So what counts is how the ratio of two candidates differs from sitting to
// sitting. What the model would take stands until another is faster by more than that can explain.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_DECIDE_H
#define DLC_CODEGEN_SELECT_DECIDE_H

#include "codegen/select/TuningDatabase.h"

namespace dlc {

/// How often a candidate's time is another's, and the interval that holds it at 95 % as far as the
/// sittings tell.
struct Lead {
  double ratio = 1, low = 0, high = 1e30;
  bool known = false; ///< as well as sittings at one time of the day can tell
};
Lead leadOf(const TunedCandidate &candidate, const TunedCandidate &over);

/// Adds a sitting, perhaps between fewer candidates, to what earlier ones found. Who failed in it
/// is out.
TuningEntry combined(const TuningEntry &first, const TuningEntry &sitting);

/// Whether no candidate may be faster than the choice by more than a tie.
bool isSettled(const TuningEntry &entry);

/// Whether one more sitting, now, would help to settle it.
bool needsSitting(const TuningEntry &entry);

/// Whether it may still become the choice, and should sit again.
bool isContender(const TuningEntry &entry, const TunedCandidate &candidate);

} // namespace dlc
#endif

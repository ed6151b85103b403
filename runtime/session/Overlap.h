//===- Overlap.h - how much of what ranks share hides behind work ----------------===//
#ifndef DLC_RUNTIME_SESSION_OVERLAP_H
#define DLC_RUNTIME_SESSION_OVERLAP_H

#include "runtime/program/Plan.h"
#include "runtime/session/Session.h"

#include <span>
#include <vector>

namespace dlc::runtime {

/// When each command of the list itself began and ended, in seconds from the run's beginning.
struct Timeline {
  struct Moment {
    double start = 0, end = 0;
  };
  std::vector<Moment> commands;
  double end = 0; ///< of the run
};

/// Of one run that was traced.
DLC_EXPORT Timeline timelineOf(const Plan &plan, std::span<const TraceEvent> events);
/// Were each command of the list to take so many seconds: streams run at once, as events allow.
DLC_EXPORT Timeline timelineOf(const Plan &plan, std::span<const double> seconds);

/// One collective of a run, in seconds from the run's beginning.
struct SharedTimes {
  size_t command = 0; ///< in the list
  double bytes = 0;
  double written = 0; ///< when the last of what it takes was there
  double start = 0, reduced = 0;
  double needed = 0;  ///< when the first that reads its result could have begun without it
  double exposed = 0; ///< of start to reduced: while nothing else was done
};

struct Overlap {
  std::vector<SharedTimes> collectives; ///< in their order
  double seconds = 0, exposed = 0;      ///< of all collectives
  /// Of those before the last one, which nothing can hide that follows it.
  double secondsBefore = 0, exposedBefore = 0;
};

/// How many bytes a collective is about: those of the whole, where sides differ.
DLC_EXPORT double sharedBytes(const Plan &plan, const Command &command);
DLC_EXPORT bool isCollective(const Command &command);

DLC_EXPORT Overlap overlapOf(const Plan &plan, const Timeline &timeline);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_OVERLAP_H

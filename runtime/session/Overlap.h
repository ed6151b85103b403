//===- Overlap.h - overlap of collectives with computation -------------------===//
#ifndef DLC_RUNTIME_SESSION_OVERLAP_H
#define DLC_RUNTIME_SESSION_OVERLAP_H

#include "runtime/program/Plan.h"
#include "runtime/session/Session.h"

#include <span>
#include <vector>

namespace dlc::runtime {

/// Start and end of each top-level command, in seconds since the start of the run.
struct Timeline {
  struct Moment {
    double start = 0, end = 0;
  };
  std::vector<Moment> commands;
  double end = 0; ///< end of the run
};

/// Returns the timeline of a traced run.
DLC_EXPORT Timeline buildTimeline(const Plan &plan, std::span<const TraceEvent> events);
/// Returns the estimated timeline if each top-level command takes the given number of seconds:
/// streams run concurrently, subject to events.
DLC_EXPORT Timeline buildTimeline(const Plan &plan, std::span<const double> seconds);

/// Times of one collective, in seconds since the start of the run.
struct CollectiveTimes {
  size_t command = 0; ///< index in the command list
  double bytes = 0;
  double written = 0; ///< when the last byte of the operand was written
  double start = 0, reduced = 0;
  double needed = 0;  ///< when the result's first reader could start if the collective took no time
  double exposed = 0; ///< part of [start, reduced] in which no other work was done
};

struct Overlap {
  std::vector<CollectiveTimes> collectives; ///< in program order
  double seconds = 0, exposed = 0;          ///< sums over all collectives
  /// The sums without the last collective, which no later computation can overlap.
  double secondsBefore = 0, exposedBefore = 0;
};

/// Returns the bytes of a collective: the larger of its two buffers.
DLC_EXPORT double getCollectiveBytes(const Plan &plan, const Command &command);
DLC_EXPORT bool isCollective(const Command &command);

DLC_EXPORT Overlap computeOverlap(const Plan &plan, const Timeline &timeline);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_OVERLAP_H

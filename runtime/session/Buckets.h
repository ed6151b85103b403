//===- Buckets.h - how much ranks share at once --------------------------------===//
#ifndef DLC_RUNTIME_SESSION_BUCKETS_H
#define DLC_RUNTIME_SESSION_BUCKETS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// So many bytes that latency is a small part of what they take.
DLC_EXPORT double bucketBytes(const WorldLink &link);

/// All-reduces in place, of memory side by side, become one, until it has so many bytes: what comes
/// first then waits for what comes next. Those stay apart whose result is read before that is
/// written.
/// The plan's streams must be right, and are so afterwards.
DLC_EXPORT void joinBuckets(Plan &plan, double bytes);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_BUCKETS_H

//===- Buckets.h - merges all-reduces into buckets ---------------------------===//
#ifndef DLC_RUNTIME_SESSION_BUCKETS_H
#define DLC_RUNTIME_SESSION_BUCKETS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// Returns a bucket size in bytes for which the latency is a small part (1/10) of an all-reduce's
/// time.
DLC_EXPORT double computeBucketBytes(const WorldLink &link);

/// Merges in-place all-reduces of adjacent memory into buckets of about `bytes` bytes. Each merged
/// all-reduce is executed at the position of the bucket's last one. All-reduces are not merged if a
/// result is needed before the last operand is available. The plan's streams must be valid
/// (checkStreams); they are valid again afterwards.
DLC_EXPORT void joinBuckets(Plan &plan, double bytes);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_BUCKETS_H

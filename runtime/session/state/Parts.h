//===- Parts.h - a rank's part of a sharded state ----------------------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_PARTS_H
#define DLC_RUNTIME_SESSION_STATE_PARTS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

namespace dlc::runtime {

inline bool isPart(const StateInfo &info) { return info.part.ranks > 1; }

/// Returns the shape of the whole tensor that the state is a part of.
std::vector<int64_t> getUnshardedShape(const StateInfo &info);

/// extractRankPart() copies a rank's elements from the whole tensor to the rank's part;
/// insertRankPart() copies them back.
void extractRankPart(const StateInfo &info, int rank, const char *whole, char *part);
void insertRankPart(const StateInfo &info, int rank, const char *part, char *whole);

/// Gathers a state's whole tensor from the parts of all ranks. All ranks call it together.
Span gatherRankParts(const StateInfo &info, World &world, const char *part);

/// Returns the world over which states are sharded: `given`, or the process's world if it is null.
/// Returns null if no state is sharded. Throws dlc::Error if the world's size is not the one for
/// which the program was compiled.
World *findShardWorld(const Plan &plan, World *given);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_PARTS_H

//===- Parts.h - a rank's part of a sharded state ----------------------------===//
#ifndef DLC_RUNTIME_SESSION_PARTS_H
#define DLC_RUNTIME_SESSION_PARTS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

namespace dlc::runtime {

inline bool isPart(const StateInfo &info) { return info.part.ranks > 1; }

/// Shape of the whole tensor.
std::vector<int64_t> wholeShape(const StateInfo &info);

/// Copies the rank's elements from the whole tensor to its part, and back.
void takePart(const StateInfo &info, int rank, const char *whole, char *part);
void putPart(const StateInfo &info, int rank, const char *part, char *whole);

/// Gathers the whole tensor from the parts of all ranks. All ranks call it together.
Span gatherParts(const StateInfo &info, World &world, const char *part);

/// Returns null if no state is sharded; otherwise the world (if `given` is null: the process's).
/// Throws dlc::Error if its size is not the one for which the program was compiled.
World *worldOfParts(const Plan &plan, World *given);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_PARTS_H

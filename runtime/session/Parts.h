//===- Parts.h - a rank's part of a state that all ranks have together ---------===//
#ifndef DLC_RUNTIME_SESSION_PARTS_H
#define DLC_RUNTIME_SESSION_PARTS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

namespace dlc::runtime {

inline bool isPart(const StateInfo &info) { return info.part.ranks > 1; }

/// Of the whole tensor.
std::vector<int64_t> wholeShape(const StateInfo &info);

/// The rank's elements of the whole, in the part's order; and the other way round.
void takePart(const StateInfo &info, int rank, const char *whole, char *part);
void putPart(const StateInfo &info, int rank, const char *part, char *whole);

/// The whole of what the ranks have. All ranks call it together.
Span gatherParts(const StateInfo &info, World &world, const char *part);

/// Null where no state is a part, else the world (null: the process's), which has the program's
/// ranks. Throws dlc::Error where it has another number.
World *worldOfParts(const Plan &plan, World *given);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_PARTS_H

//===- Together.h - what ranks that run one program have alike ------------------===//
#ifndef DLC_RUNTIME_SESSION_TOGETHER_H
#define DLC_RUNTIME_SESSION_TOGETHER_H

#include "dlc/Export.h"
#include "runtime/collective/World.h"
#include "runtime/program/Program.h"
#include "runtime/session/State.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::runtime {

/// Lines for World::agree: of ranks that have one file, all of it.
DLC_EXPORT std::vector<std::string> linesOf(const Program &program, const Plan &plan);
/// Of ranks that compiled a model, each for its own processor: what the program takes, gives and
/// keeps, and its collectives.
DLC_EXPORT std::vector<std::string> meaningOf(const Plan &plan);

/// All ranks call these together; one that is alone has nothing to do but save.
///
/// Rank 0's state becomes everybody's, but for shares and parts, which are each rank's own.
DLC_EXPORT void shareStates(World &world, StateSet &states, const Plan &plan);
/// A checkpoint of all.
DLC_EXPORT void saveTogether(World &world, const StateSet &states, const Plan &plan,
                             const std::string &path,
                             const std::map<std::string, std::string> &metadata = {});

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_TOGETHER_H

//===- WorldState.h - consistency of the ranks that run one program ----------===//
#ifndef DLC_RUNTIME_SESSION_STATE_WORLDSTATE_H
#define DLC_RUNTIME_SESSION_STATE_WORLDSTATE_H

#include "dlc/Export.h"
#include "runtime/collective/World.h"
#include "runtime/program/Program.h"
#include "runtime/session/state/State.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::runtime {

/// Returns lines for World::agree that identify the program file, if all ranks must have the same
/// file.
DLC_EXPORT std::vector<std::string> describeProgram(const Program &program, const Plan &plan);
/// Returns lines for World::agree that describe inputs, outputs, states and collectives, if each
/// rank has compiled the model for its own CPU.
DLC_EXPORT std::vector<std::string> describeInterface(const Plan &plan);

/// Broadcasts rank 0's states to all ranks, except shards and parts, which differ between ranks.
/// Must be called by all ranks together. Does nothing in a world of one rank.
DLC_EXPORT void broadcastStates(World &world, StateSet &states, const Plan &plan);
/// Saves a checkpoint of the states of all ranks. Must be called by all ranks together.
DLC_EXPORT void saveWorldState(World &world, const StateSet &states, const Plan &plan,
                               const std::string &path,
                               const std::map<std::string, std::string> &metadata = {});

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_WORLDSTATE_H

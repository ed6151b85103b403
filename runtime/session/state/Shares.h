//===- Shares.h - checkpoints of sharded state -------------------------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_SHARES_H
#define DLC_RUNTIME_SESSION_STATE_SHARES_H

#include "dlc/Export.h"
#include "runtime/collective/World.h"
#include "runtime/session/state/State.h"

#include <map>
#include <string>

namespace dlc::runtime {

/// Returns whether some state is sharded, so that a checkpoint needs the shards of all ranks.
DLC_EXPORT bool hasShardedStates(const Plan &plan);

/// Saves a checkpoint of sharded states. All ranks call it together: each writes its part, then
/// rank 0 writes the main file, which commits the checkpoint (Checkpoint.h). Temporary files of
/// killed writers and the parts of the previous checkpoint are removed. Throws dlc::Error; then the
/// previous checkpoint is still valid.
DLC_EXPORT void saveShared(World &world, const StateSet &states, const Plan &plan,
                           const std::string &path, std::map<std::string, std::string> metadata);

/// Removes all part files of a checkpoint except those with the checkpoint number `keep`. Returns
/// the greatest number found.
DLC_EXPORT int64_t removeParts(const std::string &path, int64_t keep);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_SHARES_H

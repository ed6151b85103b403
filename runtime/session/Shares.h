//===- Shares.h - checkpoints of state that is split over ranks ---------------===//
#ifndef DLC_RUNTIME_SESSION_SHARES_H
#define DLC_RUNTIME_SESSION_SHARES_H

#include "dlc/Export.h"
#include "runtime/collective/World.h"
#include "runtime/session/State.h"

#include <map>
#include <string>

namespace dlc::runtime {

/// Whether ranks have different states, and a checkpoint is of all of them.
DLC_EXPORT bool hasShares(const Plan &plan);

/// All ranks call it together: each writes its part, then rank 0 the file that makes them a
/// checkpoint (Checkpoint.h). What killed writers left is removed, and so are the parts of the
/// checkpoint before. Throws dlc::Error; then the checkpoint before stands.
DLC_EXPORT void saveShared(World &world, const StateSet &states, const Plan &plan,
                           const std::string &path, std::map<std::string, std::string> metadata);

/// Removes all parts of a checkpoint but those of one number; returns the greatest number found.
DLC_EXPORT int64_t removeParts(const std::string &path, int64_t keep);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_SHARES_H

//===- Engine.h - the engine of the launcher that started this process --------===//
#ifndef DLC_RUNTIME_COLLECTIVE_ENGINE_H
#define DLC_RUNTIME_COLLECTIVE_ENGINE_H

#include "dlc/engine.h"

namespace dlc::runtime {

/// Null: no launcher did, or one that started this process alone. Throws dlc::Error where one did
/// and its engine is not there.
const dlc_engine_table *launchedEngine();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_ENGINE_H

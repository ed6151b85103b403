//===- Engine.h - the engine of the launcher that started this process --------===//
#ifndef DLC_RUNTIME_COLLECTIVE_ENGINE_H
#define DLC_RUNTIME_COLLECTIVE_ENGINE_H

#include "dlc/engine.h"

namespace dlc::runtime {

struct Launched {
  /// Null: no launcher did, or one that started this process alone.
  const dlc_engine_table *engine = nullptr;
  /// What says how many ranks it started.
  const char *variable = nullptr;
  int size = 1;
};

/// Throws dlc::Error where a launcher did, and its engine is not there.
Launched launchedEngine();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_ENGINE_H

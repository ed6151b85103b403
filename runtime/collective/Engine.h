//===- Engine.h - the engine of the launcher that started this process --------===//
#ifndef DLC_RUNTIME_COLLECTIVE_ENGINE_H
#define DLC_RUNTIME_COLLECTIVE_ENGINE_H

#include "dlc/engine.h"

#include <string>

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

/// Throws dlc::Error for the table of another version; `whose` begins the message.
void requireVersion(const dlc_engine_table &table, const std::string &whose);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_ENGINE_H

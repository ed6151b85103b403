//===- Engine.h - the launcher that started this process, and its engine -----===//
#ifndef DLC_RUNTIME_COLLECTIVE_ENGINE_H
#define DLC_RUNTIME_COLLECTIVE_ENGINE_H

#include "dlc/engine.h"

#include <string>

namespace dlc::runtime {

struct LaunchedEngine {
  /// Null if no launcher started the process, or if it started a single process.
  const dlc_engine_table *engine = nullptr;
  /// Environment variable of the launcher with the number of ranks.
  const char *variable = nullptr;
  int size = 1;
};

/// Detects the launcher and loads its engine. Throws dlc::Error if the engine cannot be loaded.
LaunchedEngine findLaunchedEngine();

/// Throws dlc::Error if the table has another version; `whose` is the beginning of the message.
void requireVersion(const dlc_engine_table &table, const std::string &whose);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_ENGINE_H

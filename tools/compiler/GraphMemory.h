//===- GraphMemory.h - the constants of graphs, where others hold them ---------===//
#ifndef DLC_TOOLS_COMPILER_GRAPHMEMORY_H
#define DLC_TOOLS_COMPILER_GRAPHMEMORY_H

#include "frontend/aten/Import.h"
#include "tools/compiler/Graphs.h"

namespace dlc {

/// Finds constants, which are not copied; the map must outlive what is returned.
AtenConstants atenConstants(const std::map<std::string, GraphMemory> &constants);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHMEMORY_H

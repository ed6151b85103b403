//===- GraphMemory.h - constants of graphs in memory owned by the caller --===//
#ifndef DLC_TOOLS_COMPILER_GRAPHMEMORY_H
#define DLC_TOOLS_COMPILER_GRAPHMEMORY_H

#include "frontend/aten/Import.h"
#include "tools/compiler/Graphs.h"

namespace dlc {

/// Returns a lookup function for a graph's constants by name. The elements are not copied:
/// `constants` must outlive the returned function.
AtenConstants makeConstantLookup(const std::map<std::string, ConstantMemory> &constants);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHMEMORY_H

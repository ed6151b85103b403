//===- Graphs.h - models that are graphs of PyTorch operators -------------===//
#ifndef DLC_TOOLS_COMPILER_GRAPHS_H
#define DLC_TOOLS_COMPILER_GRAPHS_H

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlc {

class Source;

/// Memory with the elements of a graph's constant. The elements are not copied.
struct ConstantMemory {
  const void *data;
  size_t bytes;
  std::shared_ptr<void> keep;
};

/// Imports a PyTorch graph in the text format of frontend/aten/README.md. Throws dlc::Error.
std::shared_ptr<Source> graphSource(const std::string &text,
                                    std::map<std::string, ConstantMemory> constants);

/// Returns the names of the supported PyTorch operator overloads, such as "add.Tensor".
std::vector<std::string> graphOperators();

/// Returns the names of a graph's nodes that cannot be imported, with the reason for each. Throws
/// dlc::Error if the text is not a valid graph.
std::vector<std::pair<std::string, std::string>> findUnsupportedNodes(const std::string &text);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHS_H

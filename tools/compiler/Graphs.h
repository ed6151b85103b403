//===- Graphs.h - models that are graphs of PyTorch's operators ----------------===//
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

/// The elements of a graph's constant, which are not copied.
struct GraphMemory {
  const void *data;
  size_t bytes;
  std::shared_ptr<void> keep;
};

/// The text is what frontend/aten/README.md says. Throws dlc::Error.
std::shared_ptr<Source> graphSource(const std::string &text,
                                    std::map<std::string, GraphMemory> constants);

/// The overloads that can be: "add.Tensor".
std::vector<std::string> graphOperators();

/// The nodes that cannot be imported, and why. Throws dlc::Error where the text itself is wrong.
std::vector<std::pair<std::string, std::string>> examineGraph(const std::string &text);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHS_H

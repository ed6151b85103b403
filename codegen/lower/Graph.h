//===- Graph.h - dependency graph -----------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_GRAPH_H
#define DLC_CODEGEN_LOWER_GRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace dlc::lower {

/// Directed dependency graph of numbered nodes. An edge leads from a node to a node that must be
/// executed later.
class DependencyGraph {
public:
  explicit DependencyGraph(size_t nodes) : after(nodes) {}

  size_t size() const { return after.size(); }
  unsigned addNode() {
    after.emplace_back();
    return unsigned(after.size() - 1);
  }
  void addEdge(unsigned first, unsigned then) { after[first].push_back(then); }
  void clearEdgesFrom(unsigned node) { after[node].clear(); }
  llvm::ArrayRef<unsigned> following(unsigned node) const { return after[node]; }

  /// Returns true if there is a path from `from` to one of the targets.
  bool leadsTo(unsigned from, llvm::ArrayRef<unsigned> targets) const {
    std::vector<bool> wanted(after.size()), seen(after.size());
    for (unsigned target : targets)
      wanted[target] = true;
    llvm::SmallVector<unsigned> work{from};
    seen[from] = true;
    while (!work.empty())
      for (unsigned next : after[work.pop_back_val()]) {
        if (wanted[next])
          return true;
        if (!seen[next]) {
          seen[next] = true;
          work.push_back(next);
        }
      }
    return false;
  }

private:
  std::vector<llvm::SmallVector<unsigned, 4>> after;
};

} // namespace dlc::lower
#endif

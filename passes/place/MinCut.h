//===- MinCut.h - the cheapest way to cut a graph in two ------------------===//
#ifndef DLC_PASSES_PLACE_MINCUT_H
#define DLC_PASSES_PLACE_MINCUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::place {

/// Sums of bytes times counts do not fit 64 bits.
using Cost = __int128;
constexpr Cost kInfinite = Cost(1) << 120;

/// A directed graph with two ends; each edge costs its capacity when it leads from the source's
/// side to the sink's.
class MinCut {
public:
  MinCut();
  unsigned source() const { return 0; }
  unsigned sink() const { return 1; }
  unsigned addVertex();
  void addEdge(unsigned from, unsigned to, Cost capacity);

  /// The cheapest cut: for each vertex whether it is on the sink's side. Of several such cuts, the
  /// one with the smallest source's side.
  std::vector<bool> solve();

private:
  struct Edge {
    unsigned to, back;
    Cost capacity;
  };
  bool measureLevels();
  Cost pushAlongOnePath();

  std::vector<std::vector<Edge>> edges; // by vertex
  std::vector<int> level;
  std::vector<std::size_t> next;
};

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_MINCUT_H

//===- MinCut.h - minimum cut of a directed graph -------------------------===//
#ifndef DLC_PASSES_PLACE_MINCUT_H
#define DLC_PASSES_PLACE_MINCUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::place {

/// Cost with 128 bits, because sums of bytes multiplied by counts may overflow 64 bits.
using Cost = __int128;
constexpr Cost kInfinite = Cost(1) << 120;

/// Directed graph with a source and a sink, for a minimum cut. An edge from the source's side to
/// the sink's side of the cut costs its capacity.
class MinCut {
public:
  MinCut();
  unsigned source() const { return 0; }
  unsigned sink() const { return 1; }
  unsigned addVertex();
  void addEdge(unsigned from, unsigned to, Cost capacity);

  /// Returns the minimum cut: for each vertex, whether it is on the sink's side. Among several
  /// minimum cuts, returns the one with the smallest source side.
  std::vector<bool> solve();

private:
  struct Edge {
    unsigned to, back;
    Cost capacity;
  };
  bool measureLevels();
  Cost pushAlongOnePath();

  std::vector<std::vector<Edge>> edges; // outgoing edges, by vertex
  std::vector<int> level;
  std::vector<std::size_t> next;
};

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_MINCUT_H

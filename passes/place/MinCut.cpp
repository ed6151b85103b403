//===- MinCut.cpp - minimum cut by Dinic's algorithm ----------------------===//
#include "passes/place/MinCut.h"

#include <algorithm>

namespace dlc::place {

MinCut::MinCut() : edges(2) {}

unsigned MinCut::addVertex() {
  edges.emplace_back();
  return unsigned(edges.size()) - 1;
}

void MinCut::addEdge(unsigned from, unsigned to, Cost capacity) {
  if (from == to || capacity <= 0)
    return;
  edges[from].push_back({to, unsigned(edges[to].size()), capacity});
  edges[to].push_back({from, unsigned(edges[from].size()) - 1, 0});
}

/// Computes BFS distances from the source over edges with residual capacity. Returns false if the
/// sink is unreachable.
bool MinCut::measureLevels() {
  level.assign(edges.size(), -1);
  next.assign(edges.size(), 0);
  std::vector<unsigned> queue{source()};
  level[source()] = 0;
  for (size_t at = 0; at < queue.size(); ++at)
    for (const Edge &edge : edges[queue[at]])
      if (edge.capacity > 0 && level[edge.to] < 0) {
        level[edge.to] = level[queue[at]] + 1;
        queue.push_back(edge.to);
      }
  return level[sink()] >= 0;
}

Cost MinCut::pushAlongOnePath() {
  // The depth-first search is iterative, because a path may be as long as the program.
  std::vector<std::pair<unsigned, size_t>> path; // vertex, and index of its outgoing edge
  unsigned at = source();
  while (at != sink()) {
    size_t &i = next[at];
    while (i < edges[at].size() &&
           !(edges[at][i].capacity > 0 && level[edges[at][i].to] == level[at] + 1))
      ++i;
    if (i < edges[at].size()) {
      path.emplace_back(at, i);
      at = edges[at][i].to;
      continue;
    }
    if (path.empty())
      return 0;
    at = path.back().first;
    path.pop_back();
    ++next[at];
  }
  Cost pushed = kInfinite;
  for (auto [vertex, i] : path)
    pushed = std::min(pushed, edges[vertex][i].capacity);
  for (auto [vertex, i] : path) {
    Edge &edge = edges[vertex][i];
    edge.capacity -= pushed;
    edges[edge.to][edge.back].capacity += pushed;
  }
  return pushed;
}

std::vector<bool> MinCut::solve() {
  while (measureLevels())
    while (pushAlongOnePath() > 0)
      ;
  std::vector<bool> taken(edges.size());
  for (size_t vertex = 0; vertex < edges.size(); ++vertex)
    taken[vertex] = level[vertex] < 0;
  return taken;
}

} // namespace dlc::place

//===- Solve.cpp - alpha expansion by minimum cuts ------------------------===//
#include "passes/place/Solve.h"

#include <algorithm>

namespace dlc::place {
namespace {

/// One alpha-expansion move, solved as a minimum cut: each free node takes the label `alpha` or
/// keeps its label. A node on the sink's side of the cut takes alpha.
class AlphaExpansion {
public:
  AlphaExpansion(const PlacementProblem &problem, const Labels &at, int alpha)
      : problem(problem), at(at), alpha(alpha), vertex(problem.nodes.size()) {
    for (unsigned node = 0; node < vertex.size(); ++node) {
      bool isFree = problem.nodes[node].fixed < 0;
      if (at[node] == alpha)
        vertex[node] = cut.sink();
      else if (!isFree)
        vertex[node] = cut.source();
      else
        addFree(node);
    }
    for (const Net &net : problem.nets)
      if (net.kind != Net::Constant)
        addNet(net);
  }

  Labels run() {
    std::vector<bool> taken = cut.solve();
    Labels result = at;
    for (unsigned node = 0; node < vertex.size(); ++node)
      if (problem.nodes[node].fixed < 0 && taken[vertex[node]])
        result[node] = alpha;
    return result;
  }

private:
  void addFree(unsigned node) {
    vertex[node] = cut.addVertex();
    cut.addEdge(cut.source(), vertex[node], problem.unary(node, alpha));
    cut.addEdge(vertex[node], cut.sink(), problem.unary(node, at[node]));
  }

  /// Adds edges that cost `cost` if the node `def` keeps its label and any of the users takes
  /// alpha.
  void addAnyTaken(unsigned def, const std::vector<unsigned> &users, Cost cost) {
    if (users.empty() || cost == 0)
      return;
    unsigned any = cut.addVertex();
    cut.addEdge(def, any, cost);
    for (unsigned user : users)
      cut.addEdge(any, user, kInfinite);
  }
  /// Adds edges that cost `cost` if the node `def` takes alpha and any of the users keeps its
  /// label.
  void addAnyKept(unsigned def, const std::vector<unsigned> &users, Cost cost) {
    if (users.empty() || cost == 0)
      return;
    unsigned any = cut.addVertex();
    cut.addEdge(any, def, cost);
    for (unsigned user : users)
      cut.addEdge(user, any, kInfinite);
  }

  void addNet(const Net &net) {
    int own = at[net.def];
    unsigned def = vertex[net.def];
    std::vector<std::vector<unsigned>> users(problem.labels);
    std::vector<unsigned> all;
    for (unsigned user : net.users) {
      users[size_t(at[user])].push_back(vertex[user]);
      all.push_back(vertex[user]);
    }
    if (own != alpha)
      addAnyTaken(def, all, problem.edge(net, own, alpha));
    for (int label = 0; label < int(problem.labels); ++label) {
      if (label == alpha)
        continue;
      const std::vector<unsigned> &group = users[size_t(label)];
      Cost moved = problem.edge(net, alpha, label);
      if (own == alpha || own == label) {
        addAnyKept(def, group, moved);
        continue;
      }
      // The users' label is neither alpha nor that of the defining node. If a transfer from alpha
      // costs less than a transfer from the defining node's label, the cut uses the higher cost,
      // which is an upper bound.
      Cost kept = problem.edge(net, own, label);
      addAnyKept(cut.sink(), group, kept);
      if (moved > kept)
        addAnyKept(def, group, moved - kept);
    }
  }

  const PlacementProblem &problem;
  const Labels &at;
  int alpha;
  MinCut cut;
  std::vector<unsigned> vertex;
};

/// Applies alpha-expansion moves until no label lowers the energy.
Labels applyAlphaExpansions(const PlacementProblem &problem, Labels at) {
  Cost energy = problem.energy(at);
  int idle = 0;
  for (int alpha = 0; idle < int(problem.labels); alpha = (alpha + 1) % int(problem.labels)) {
    ++idle;
    if (!problem.allowed[size_t(alpha)])
      continue;
    Labels next = AlphaExpansion(problem, at, alpha).run();
    if (Cost found = problem.energy(next); found < energy) {
      at = std::move(next);
      energy = found;
      idle = 0;
    }
  }
  return at;
}

} // namespace

Labels solvePlacement(const PlacementProblem &problem) {
  // Alpha expansion (Boykov et al. 2001) starts from the assignment that ignores transfer costs,
  // and from each assignment of one device (label) to all operations. With two labels, one
  // expansion from a single label is exact.
  std::vector<Labels> starts{problem.naive()};
  for (unsigned label = 0; label < problem.labels; ++label)
    if (problem.allowed[label])
      starts.push_back(problem.allAt(int(label)));
  Labels best;
  Cost least = 0;
  for (Labels &start : starts) {
    Labels found = applyAlphaExpansions(problem, std::move(start));
    Cost energy = problem.energy(found);
    if (best.empty() || energy < least) {
      least = energy;
      best = std::move(found);
    }
  }
  return best;
}

} // namespace dlc::place

//===- Split.cpp - list scheduling of parallel branches -------------------===//
#include "passes/place/Solve.h"

#include <algorithm>

namespace dlc::place {
namespace {

/// List scheduler that assigns labels for concurrent branches. Resident values (parameters and
/// states) are in memory from the beginning. The first reader determines the device of such a
/// value. Other readers, and the operation that updates a state, are charged for the transfer.
class BranchScheduler {
public:
  explicit BranchScheduler(const PlacementProblem &problem)
      : problem(problem), at(problem.allAt(problem.preferred)), inputs(problem.nodes.size()),
        outputs(problem.nodes.size()), kept(problem.nodes.size()), home(problem.nets.size(), -1),
        rank(problem.nodes.size(), 0), ended(problem.nodes.size(), 0), idle(problem.labels, 0) {
    for (unsigned net = 0; net < problem.nets.size(); ++net) {
      const Net &value = problem.nets[net];
      if (value.kind == Net::Constant)
        continue;
      bool isKept = value.resident && problem.nodes[value.def].fixed < 0;
      (isKept ? kept : outputs)[value.def].push_back(net);
      for (unsigned user : value.users)
        (isKept ? kept : inputs)[user].push_back(net);
    }
    for (unsigned node = 0; node < problem.nodes.size(); ++node)
      order.push_back(node);
  }

  Labels run() {
    byPosition();
    for (auto node = order.rbegin(); node != order.rend(); ++node)
      rank[*node] = worstWork(*node) + restAfter(*node);
    // The rank of a node (its longest path to the end) is at least the rank of its users, so that
    // definitions precede uses in this order.
    byPosition();
    std::stable_sort(order.begin(), order.end(),
                     [&](unsigned a, unsigned b) { return rank[a] > rank[b]; });
    for (unsigned node : order)
      if (!isWaiting(node))
        place(node);
    for (unsigned net = 0; net < home.size(); ++net)
      if (home[net] >= 0 && isWaiting(problem.nets[net].def))
        at[problem.nets[net].def] = home[net];
    return at;
  }

private:
  /// Returns whether the node is an argument that no operation updates. Such an argument is placed
  /// on the device of its first reader.
  bool isWaiting(unsigned node) const {
    return problem.nodes[node].fixed < 0 && problem.nodes[node].position == 0;
  }

  void byPosition() {
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return problem.nodes[a].position < problem.nodes[b].position;
    });
  }

  int64_t workAt(unsigned node, int label) const {
    const std::vector<int64_t> &work = problem.nodes[node].work;
    return work.empty() ? 0 : work[size_t(label)];
  }
  int64_t worstWork(unsigned node) const {
    const std::vector<int64_t> &work = problem.nodes[node].work;
    return work.empty() ? 0 : *std::max_element(work.begin(), work.end());
  }
  int64_t restAfter(unsigned node) const {
    int64_t rest = 0;
    for (unsigned net : outputs[node])
      for (unsigned user : problem.nets[net].users)
        rest = std::max(rest, rank[user]);
    return rest;
  }

  int64_t readyAt(unsigned node, int label) const {
    int64_t ready = 0;
    for (unsigned net : inputs[node]) {
      const Net &value = problem.nets[net];
      ready = std::max(ready, ended[value.def] + problem.moving(value, at[value.def], label));
    }
    for (unsigned net : kept[node])
      if (home[net] >= 0)
        ready += problem.moving(problem.nets[net], home[net], label);
    return ready;
  }

  void place(unsigned node) {
    int fixed = problem.nodes[node].fixed, best = -1;
    int64_t earliest = 0;
    for (int label = 0; label < int(problem.labels); ++label) {
      if (fixed >= 0 ? label != fixed : !problem.allowed[size_t(label)])
        continue;
      int64_t end = std::max(readyAt(node, label), idle[size_t(label)]) + workAt(node, label);
      if (best < 0 || end < earliest || (end == earliest && label == problem.preferred)) {
        best = label;
        earliest = end;
      }
    }
    for (unsigned net : kept[node])
      if (home[net] < 0)
        home[net] = best;
    at[node] = best;
    ended[node] = earliest;
    if (workAt(node, best) > 0)
      idle[size_t(best)] = earliest;
  }

  const PlacementProblem &problem;
  Labels at;
  std::vector<std::vector<unsigned>> inputs, outputs, kept; // net indices, by node
  std::vector<int> home;                                    // label of resident values, by net
  std::vector<int64_t> rank, ended;                         // by node: longest path, finish time
  std::vector<int64_t> idle;                                // time at which each label becomes idle
  std::vector<unsigned> order;
};

} // namespace

Labels split(const PlacementProblem &problem) { return BranchScheduler(problem).run(); }

} // namespace dlc::place

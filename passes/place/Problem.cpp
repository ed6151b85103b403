//===- Problem.cpp - cost and memory of a placement -----------------------===//
#include "passes/place/Problem.h"

#include <algorithm>

namespace dlc::place {

int64_t PlacementProblem::moving(const Net &net, int from, int to) const {
  if (net.kind != Net::Data || from == to)
    return 0;
  size_t way = size_t(from) * labels + size_t(to);
  return net.bytes * perByte[way] + perMove[way];
}

// Encodes a lexicographic cost in one integer: first bytes or time, then the number of transfers,
// then the number of nodes that are not on the preferred device.
Cost PlacementProblem::edge(const Net &net, int from, int to) const {
  if (net.kind == Net::Constant || from == to)
    return 0;
  Cost transfer = Cost(nodes.size()) + 1;
  Cost unit = transfer * (Cost(nets.size()) * labels + 1);
  return Cost(moving(net, from, to)) * unit + transfer;
}

Cost PlacementProblem::unary(unsigned node, int label) const {
  if (nodes[node].fixed < 0 && !allowed[size_t(label)])
    return kInfinite;
  Cost transfer = Cost(nodes.size()) + 1;
  Cost unit = transfer * (Cost(nets.size()) * labels + 1);
  const std::vector<int64_t> &work = nodes[node].work;
  Cost own = work.empty() ? 0 : Cost(work[size_t(label)]) * unit;
  return own + (label != preferred ? 1 : 0);
}

Cost PlacementProblem::energy(const Labels &at) const {
  Cost sum = 0;
  for (unsigned node = 0; node < nodes.size(); ++node)
    if (nodes[node].fixed < 0)
      sum += unary(node, at[node]);
  for (const Net &net : nets)
    forEachTransferTarget(*this, net, at, [&](int to) { sum += edge(net, at[net.def], to); });
  return sum;
}

int64_t PlacementProblem::crossing(const Labels &at) const {
  int64_t sum = 0;
  for (const Net &net : nets)
    if (net.kind == Net::Data)
      forEachTransferTarget(*this, net, at, [&](int) { sum += net.bytes; });
  return sum;
}

std::vector<int64_t> PlacementProblem::memory(const Labels &at) const {
  unsigned end = 0;
  for (const PlacementNode &node : nodes)
    end = std::max(end, node.position);
  for (const Net &net : nets)
    end = std::max(end, net.last);
  // Change of the allocated bytes at each program position, by label.
  std::vector<std::vector<int64_t>> change(labels, std::vector<int64_t>(end + 2, 0));
  for (const Net &net : nets) {
    auto hold = [&](int label, unsigned from, unsigned to) {
      change[size_t(label)][net.resident ? 0 : from] += net.bytes;
      change[size_t(label)][(net.resident ? end : to) + 1] -= net.bytes;
    };
    unsigned from = nodes[net.def].position;
    if (net.kind == Net::Constant) {
      if (net.users.empty())
        continue;
      hold(at[net.users.front()], from, from);
      uint64_t seen = uint64_t(1) << at[net.users.front()];
      for (unsigned user : net.users)
        if (uint64_t bit = uint64_t(1) << at[user]; !(seen & bit)) {
          seen |= bit;
          hold(at[user], from, from);
        }
      continue;
    }
    hold(at[net.def], from, std::max(from, net.last));
    forEachTransferTarget(*this, net, at,
                          [&](int to) { hold(to, from, std::max(from, net.last)); });
  }
  std::vector<int64_t> most(labels, 0);
  for (unsigned label = 0; label < labels; ++label) {
    int64_t held = 0;
    for (int64_t each : change[label])
      most[label] = std::max(most[label], held += each);
  }
  return most;
}

bool PlacementProblem::fits(const Labels &at) const {
  if (std::all_of(capacity.begin(), capacity.end(), [](int64_t bytes) { return bytes == 0; }))
    return true;
  std::vector<int64_t> most = memory(at);
  for (unsigned label = 0; label < labels; ++label)
    if (capacity[label] && most[label] > capacity[label])
      return false;
  return true;
}

Labels PlacementProblem::allAt(int label) const {
  Labels at(nodes.size());
  for (size_t node = 0; node < nodes.size(); ++node)
    at[node] = nodes[node].fixed >= 0 ? nodes[node].fixed : label;
  return at;
}

Labels PlacementProblem::naive() const {
  Labels at = allAt(preferred);
  std::vector<unsigned> order(nodes.size());
  for (unsigned node = 0; node < nodes.size(); ++node)
    order[node] = node;
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return nodes[a].position < nodes[b].position; });
  for (unsigned node : order)
    if (nodes[node].fixed < 0 && nodes[node].first >= 0 &&
        allowed[size_t(at[size_t(nodes[node].first)])])
      at[node] = at[size_t(nodes[node].first)];
  return at;
}

} // namespace dlc::place

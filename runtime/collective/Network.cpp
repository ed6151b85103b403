//===- Network.cpp - cost model of collectives -------------------------------===//
#include "runtime/collective/Network.h"

#include <algorithm>
#include <cmath>

namespace dlc::runtime {

namespace {

double levels(int ranks) { return std::ceil(std::log2(ranks)); }

double computeRingSeconds(const MessageCost &link, Collective what, double bytes, int ranks) {
  double n = ranks, piece = link.latency + bytes / n * link.secondsPerByte;
  switch (what) {
  case Collective::AllReduce: // a reduce-scatter and an all-gather
    return 2 * (n - 1) * piece;
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::OrderedSum:
    return (n - 1) * piece;
  case Collective::Broadcast: // a scatter by a tree, then an all-gather
    return levels(ranks) * link.latency + (n - 1) / n * bytes * link.secondsPerByte +
           (n - 1) * piece;
  }
  return 0;
}

double computeTreeSeconds(const MessageCost &link, Collective what, double bytes, int ranks) {
  double n = ranks;
  switch (what) {
  case Collective::AllReduce:
  case Collective::Broadcast:
    return levels(ranks) * (link.latency + bytes * link.secondsPerByte);
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::OrderedSum: // the exchanged bytes double at each level of the tree
    return levels(ranks) * link.latency + (n - 1) / n * bytes * link.secondsPerByte;
  }
  return 0;
}

CollectiveCost selectCheaper(const CollectiveCost &a, const CollectiveCost &b) {
  return b.seconds < a.seconds ? b : a;
}

CollectiveCost computeFlatCost(const MessageCost &link, Collective what, double bytes, int ranks) {
  if (ranks < 2)
    return {};
  return selectCheaper({computeTreeSeconds(link, what, bytes, ranks), "tree"},
                       {computeRingSeconds(link, what, bytes, ranks), "ring"});
}

} // namespace

int Network::machines(int ranks) const {
  return perMachine > 0 ? (ranks + perMachine - 1) / perMachine : 1;
}

CollectiveCost computeCollectiveCost(const Network &network, Collective what, double bytes,
                                     int ranks) {
  const int machines = network.machines(ranks);
  if (machines == 1)
    return computeFlatCost(network.inside, what, bytes, ranks);
  const MessageCost between = network.between.value_or(network.inside);
  if (network.perMachine == 1)
    return computeFlatCost(between, what, bytes, ranks);
  // Each rank of a machine exchanges its piece of the data with other machines. All of them
  // communicate concurrently over the machine's single link.
  CollectiveCost levels{computeRingSeconds(network.inside, what, bytes, network.perMachine) +
                            computeFlatCost(between, what, bytes, machines).seconds,
                        "two levels"};
  return selectCheaper(levels, {computeRingSeconds(between, what, bytes, ranks), "ring"});
}

MessageCost computeMessageCost(const WorldLink &allReduce, int ranks) {
  if (ranks < 2)
    return {};
  double n = ranks;
  // Bytes that a rank sends per byte of the operand. Two ranks exchange all of the data at the same
  // time; more ranks use a ring.
  double bytes = ranks == 2 ? 1 : 2 * (n - 1) / n;
  return {allReduce.latency / levels(ranks), allReduce.secondsPerByte / bytes};
}

} // namespace dlc::runtime

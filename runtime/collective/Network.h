//===- Network.h - what collectives take, on paper ------------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_NETWORK_H
#define DLC_RUNTIME_COLLECTIVE_NETWORK_H

#include "runtime/collective/World.h"

#include <optional>
#include <string_view>

namespace dlc::runtime {

/// A message of n bytes from one rank to another takes latency + n * secondsPerByte: the field's
/// alpha and beta.
struct MessageCost {
  double latency = 0, secondsPerByte = 0;
};

struct Network {
  MessageCost inside;                 ///< between ranks of one machine
  std::optional<MessageCost> between; ///< between machines; nothing: as inside
  int perMachine = 0;                 ///< ranks; 0: all of them

  DLC_EXPORT int machines(int ranks) const;
};

struct CollectiveCost {
  double seconds = 0;
  std::string_view how; ///< ring, tree, or two levels
};

/// `bytes`: of the whole, where sides differ. The cheapest of
/// - ring: each rank talks to the next one, in pieces of bytes / ranks, and no link is idle;
/// - tree: pairs at distance 1, 2, 4 .., so that latency grows with the logarithm of the ranks;
/// - two levels, where there are several machines: a ring within each, and between machines either
///   of the others, over the one link that each machine has.
DLC_EXPORT CollectiveCost collectiveCost(const Network &network, Collective what, double bytes,
                                         int ranks);

/// By what an all-reduce was measured to take among so many ranks: a small one by a tree, a large
/// one by a ring.
DLC_EXPORT MessageCost messageCost(const WorldLink &allReduce, int ranks);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_NETWORK_H

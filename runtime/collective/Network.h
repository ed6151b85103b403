//===- Network.h - cost model of collectives ---------------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_NETWORK_H
#define DLC_RUNTIME_COLLECTIVE_NETWORK_H

#include "runtime/collective/World.h"

#include <optional>
#include <string_view>

namespace dlc::runtime {

/// Cost of a message of n bytes between two ranks: latency + n * secondsPerByte (the alpha-beta
/// model).
struct MessageCost {
  double latency = 0, secondsPerByte = 0;
};

struct Network {
  MessageCost inside;                 ///< between ranks of one machine
  std::optional<MessageCost> between; ///< between machines; if absent: same as `inside`
  int perMachine = 0;                 ///< ranks per machine; 0: all ranks on one machine

  DLC_EXPORT int machines(int ranks) const;
};

struct CollectiveCost {
  double seconds = 0;
  std::string_view how; ///< algorithm: ring, tree or two levels
};

/// Returns the cost of the cheapest algorithm for a collective. `bytes` is the size of the larger
/// buffer. Algorithms:
/// - ring: each rank sends pieces of bytes / ranks to the next rank; all links are busy;
/// - tree: pairs of ranks at distance 1, 2, 4, ..; latency is logarithmic in the number of ranks;
/// - two levels, for several machines: a ring within each machine, and between machines one of the
///   other algorithms over the single link of each machine.
DLC_EXPORT CollectiveCost computeCollectiveCost(const Network &network, Collective what,
                                                double bytes, int ranks);

/// Derives the cost of a message between two ranks from the measured cost of an all-reduce with
/// `ranks` ranks. Assumes that small all-reduces use a tree and large ones a ring.
DLC_EXPORT MessageCost computeMessageCost(const WorldLink &allReduce, int ranks);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_NETWORK_H

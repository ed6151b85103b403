//===- NetworkTest.cpp - cost model of collectives -----------------------------===//
#include "runtime/collective/Network.h"
#include "runtime/session/Buckets.h"

#include <gtest/gtest.h>

using namespace dlc::runtime;

namespace {

constexpr MessageCost kLink{1e-5, 1e-9}; // latency 10 us, bandwidth 1 GB/s

double allReduce(const Network &network, double bytes, int ranks) {
  return computeCollectiveCost(network, Collective::AllReduce, bytes, ranks).seconds;
}

TEST(Network, TakesTheCheaperWay) {
  Network network{kLink, {}, 0};
  auto cost = [&](double bytes, int ranks) {
    return computeCollectiveCost(network, Collective::AllReduce, bytes, ranks);
  };
  EXPECT_EQ(cost(1e6, 1).seconds, 0);
  EXPECT_NEAR(cost(1e6, 2).seconds, 1e-5 + 1e-3,
              1e-9); // each rank receives the other's part at the same time
  EXPECT_EQ(cost(8, 1024).how, "tree");
  EXPECT_NEAR(cost(8, 1024).seconds, 10 * 1e-5, 1e-6);
  EXPECT_EQ(cost(1e9, 8).how, "ring");
  EXPECT_NEAR(cost(1e9, 8).seconds, 14 * (1e-5 + 1.0 / 8), 1e-6);
}

TEST(Network, SharesTheOneLinkBetweenMachines) {
  Network network{kLink, MessageCost{5e-5, 1e-8}, 4};
  EXPECT_EQ(network.machines(4), 1);
  EXPECT_EQ(network.machines(9), 3);
  EXPECT_EQ(allReduce(network, 1e6, 4), allReduce({kLink, {}, 0}, 1e6, 4));
  CollectiveCost cost = computeCollectiveCost(network, Collective::AllReduce, 1e6, 8);
  EXPECT_EQ(cost.how, "two levels");
  EXPECT_NEAR(cost.seconds, 6 * (1e-5 + 2.5e-4) + 5e-5 + 1e-2, 1e-6);
  // With one rank on each machine there are no links inside of a machine.
  EXPECT_EQ(allReduce({kLink, MessageCost{5e-5, 1e-8}, 1}, 1e6, 4),
            allReduce({{5e-5, 1e-8}, {}, 0}, 1e6, 4));
}

TEST(Network, ReadsMessagesOffAllReduces) {
  for (int ranks : {2, 4, 16}) {
    Network network{kLink, {}, 0};
    double small = allReduce(network, 0, ranks);
    WorldLink measured{small, (allReduce(network, 1e12, ranks) - small) / 1e12};
    MessageCost found = computeMessageCost(measured, ranks);
    EXPECT_NEAR(found.latency, kLink.latency, 1e-9);
    EXPECT_NEAR(found.secondsPerByte, kLink.secondsPerByte, 1e-15);
  }
}

TEST(Network, BucketsAreAsLargeAsLatencyAsks) {
  EXPECT_NEAR(computeBucketBytes({1e-5, 1e-9}), 90000, 1);
  EXPECT_NEAR(computeBucketBytes({1e-4, 1e-9}), 900000, 1);
  EXPECT_GE(computeBucketBytes({1e-4, 0}), 1 << 29);
}

} // namespace

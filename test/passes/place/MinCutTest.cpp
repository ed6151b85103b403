//===- MinCutTest.cpp - compares minimum cuts with exhaustive search ------===//
#include "passes/place/MinCut.h"

#include <gtest/gtest.h>

#include <random>

namespace dlc::place {
namespace {

TEST(MinCut, IsTheLeastOfAllCuts) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    unsigned vertices = 3 + random() % 8;
    MinCut cut;
    for (unsigned v = 2; v < vertices; ++v)
      ASSERT_EQ(cut.addVertex(), v);
    struct Edge {
      unsigned from, to, capacity;
    };
    std::vector<Edge> edges;
    for (unsigned i = 0; i < vertices * 3; ++i) {
      Edge edge{unsigned(random() % vertices), unsigned(random() % vertices),
                unsigned(random() % 20)};
      // One edge in ten gets such a large capacity that it is never cut, but never an edge directly
      // from source to sink.
      bool endless = random() % 10 == 0 && !(edge.from == 0 && edge.to == 1);
      edges.push_back(edge);
      cut.addEdge(edge.from, edge.to, Cost(edge.capacity));
      if (endless && edge.to > edge.from && edge.to > 1 && edge.from > 1) {
        edges.push_back({edge.from, edge.to, 1000000});
        cut.addEdge(edge.from, edge.to, Cost(1000000));
      }
    }
    auto costOf = [&](auto isTaken) {
      uint64_t sum = 0;
      for (const Edge &edge : edges)
        if (!isTaken(edge.from) && isTaken(edge.to))
          sum += edge.capacity;
      return sum;
    };
    uint64_t least = UINT64_MAX;
    for (uint64_t choice = 0; choice < (uint64_t(1) << vertices); ++choice)
      if (!(choice & 1) && (choice & 2))
        least = std::min(least, costOf([&](unsigned v) { return bool(choice >> v & 1); }));
    std::vector<bool> taken = cut.solve();
    ASSERT_FALSE(taken[cut.source()]);
    ASSERT_TRUE(taken[cut.sink()]);
    EXPECT_EQ(costOf([&](unsigned v) { return bool(taken[v]); }), least) << "round " << round;
  }
}

} // namespace
} // namespace dlc::place

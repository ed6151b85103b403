//===- SolveTest.cpp - compares solved placements with exhaustive search --===//
#include "passes/place/Solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace dlc::place {
namespace {

/// Returns a problem with random costs of work and of transfers between labels.
PlacementProblem randomProblem(std::mt19937 &random, unsigned labels, unsigned nodes) {
  PlacementProblem problem;
  problem.labels = labels;
  problem.allowed.assign(labels, true);
  problem.capacity.assign(labels, 0);
  for (unsigned way = 0; way < labels * labels; ++way) {
    problem.perByte.push_back(1 + random() % 5);
    problem.perMove.push_back(random() % 30);
  }
  for (unsigned node = 0; node < nodes; ++node) {
    PlacementNode made;
    made.position = node + 1;
    made.fixed = random() % 4 ? -1 : int(random() % labels);
    made.first = node ? int(random() % node) : -1;
    for (unsigned label = 0; label < labels; ++label)
      made.work.push_back(random() % 60);
    problem.nodes.push_back(made);
  }
  for (unsigned def = 0; def + 1 < nodes; ++def) {
    Net net;
    net.def = def;
    net.bytes = 1 + random() % 20;
    net.kind = random() % 8 ? Net::Data : Net::Scalar;
    for (unsigned user = def + 1; user < nodes; ++user)
      if (random() % 3 == 0) {
        net.users.push_back(user);
        net.last = user + 1;
      }
    problem.nets.push_back(net);
  }
  return problem;
}

/// Returns the minimum energy over all labelings.
Cost least(const PlacementProblem &problem) {
  Labels at = problem.allAt(0);
  Cost best = problem.energy(at);
  while (true) {
    unsigned node = 0;
    for (; node < at.size(); ++node) {
      if (problem.nodes[node].fixed >= 0)
        continue;
      if (++at[node] < int(problem.labels))
        break;
      at[node] = 0;
    }
    if (node == at.size())
      return best;
    best = std::min(best, problem.energy(at));
  }
}

TEST(Solve, IsExactForTwoLabels) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    PlacementProblem problem = randomProblem(random, 2, 4 + random() % 9);
    EXPECT_TRUE(problem.energy(solvePlacement(problem)) == least(problem)) << "round " << round;
  }
}

TEST(Solve, IsNearTheLeastForThreeLabelsAndNeverAboveNaive) {
  std::mt19937 random(4);
  int exact = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    PlacementProblem problem = randomProblem(random, 3, 4 + random() % 6);
    Cost found = problem.energy(solvePlacement(problem)), best = least(problem);
    EXPECT_TRUE(found >= best);
    EXPECT_TRUE(found <= problem.energy(problem.naive()));
    EXPECT_LE(double(found), 1.5 * double(best) + 1) << "round " << round;
    exact += found == best;
  }
  EXPECT_GT(exact, rounds * 8 / 10);
}

TEST(Solve, CountsWhatIsHeldAtOnce) {
  // Node 0 produces ten bytes for node 1. Node 1 produces five bytes for node 2 on the other label.
  PlacementProblem problem;
  problem.labels = 2;
  problem.allowed.assign(2, true);
  problem.capacity.assign(2, 0);
  problem.perByte.assign(4, 1);
  problem.perMove.assign(4, 0);
  for (unsigned node = 0; node < 3; ++node)
    problem.nodes.push_back({node == 2 ? 1 : 0, node + 1, -1, {}});
  problem.nets.push_back({0, 10, Net::Data, false, {1}, 2});
  problem.nets.push_back({1, 5, Net::Data, false, {2}, 3});
  problem.nets.push_back({0, 100, Net::Constant, true, {2}, 3});
  Labels at = problem.allAt(0);
  EXPECT_EQ(problem.memory(at), (std::vector<int64_t>{15, 105}));
  EXPECT_EQ(problem.crossing(at), 5);
  problem.capacity = {15, 105};
  EXPECT_TRUE(problem.fits(at));
  problem.capacity = {15, 104};
  EXPECT_FALSE(problem.fits(at));
}

TEST(Solve, KeepsWithinCapacities) {
  std::mt19937 random(5);
  int found = 0, tight = 0;
  for (int round = 0; round < 200; ++round) {
    PlacementProblem problem = randomProblem(random, 3, 12);
    Labels whole = solvePlacement(problem);
    std::vector<int64_t> held = problem.memory(whole);
    // Capacities below what the best labeling needs. The last label has unlimited capacity.
    problem.capacity = {std::max<int64_t>(1, held[0] * 3 / 4),
                        std::max<int64_t>(1, held[1] * 3 / 4), 0};
    tight += !problem.fits(whole);
    if (std::optional<Labels> at = solveWithinCapacity(problem)) {
      ++found;
      EXPECT_TRUE(problem.fits(*at)) << "round " << round;
    }
  }
  EXPECT_GT(tight, 100);
  EXPECT_GT(found, 60);
}

TEST(Split, PutsIndependentWorkSideBySide) {
  // Two chains of two nodes, and a node that joins them. Transfers are cheap.
  PlacementProblem problem;
  problem.labels = 2;
  problem.allowed.assign(2, true);
  problem.capacity.assign(2, 0);
  problem.perByte.assign(4, 1);
  problem.perMove.assign(4, 0);
  for (unsigned node = 0; node < 5; ++node)
    problem.nodes.push_back({-1, node + 1, -1, {1000, 1000}});
  for (auto [from, to] : {std::pair<unsigned, unsigned>{0, 1}, {2, 3}, {1, 4}, {3, 4}})
    problem.nets.push_back({from, 8, Net::Data, false, {to}, to + 1});
  Labels at = split(problem);
  EXPECT_EQ(at[0], at[1]);
  EXPECT_EQ(at[2], at[3]);
  EXPECT_NE(at[0], at[2]);
  // With expensive transfers all nodes get the same label.
  problem.perByte.assign(4, 100000);
  at = split(problem);
  EXPECT_EQ(at[4], at[1]);
}

} // namespace
} // namespace dlc::place

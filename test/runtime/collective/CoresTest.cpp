//===- CoresTest.cpp - assignment of processors to the ranks of a machine ------===//
#include "runtime/collective/Cores.h"

#include <gmock/gmock.h>

using namespace dlc::runtime;

namespace {

std::vector<int> listOf(const cpu_set_t &set) {
  std::vector<int> found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set))
      found.push_back(processor);
  return found;
}

} // namespace

TEST(Cores, AllProcessorsAreGivenToOneRankEach) {
  std::vector<int> processors{0, 4, 1, 5, 2, 6, 3, 7};
  EXPECT_EQ(listOf(selectRankProcessors(processors, 0, 2)), (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(listOf(selectRankProcessors(processors, 1, 2)), (std::vector<int>{2, 3, 6, 7}));
  std::vector<int> taken(8);
  for (int rank = 0; rank < 3; ++rank)
    for (int processor : listOf(selectRankProcessors(processors, rank, 3)))
      ++taken[processor];
  EXPECT_THAT(taken, testing::Each(1));
}

TEST(Cores, MoreRanksThanProcessorsGoRound) {
  EXPECT_EQ(listOf(selectRankProcessors({3, 5}, 0, 4)), std::vector<int>{3});
  EXPECT_EQ(listOf(selectRankProcessors({3, 5}, 3, 4)), std::vector<int>{5});
}

//===- ClockOffsetTest.cpp - measured offsets between the clocks of ranks ------===//
#include "runtime/collective/ClockOffset.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace dlc::runtime;

namespace {

/// Returns the offset that each rank measures if the clocks of the ranks are ahead by the given
/// times.
std::vector<ClockOffset> offsetsOf(const std::vector<int64_t> &ahead) {
  auto worlds = createLoopbackWorlds(static_cast<int>(ahead.size()));
  std::vector<ClockOffset> found(ahead.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ahead.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      found[rank] = measureClockOffset(*world, [&] {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) +
               ahead[rank];
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  return found;
}

TEST(ClockOffset, IsNothingWhereThereIsOneClock) {
  for (const ClockOffset &offset : offsetsOf({0, 0, 0}))
    EXPECT_EQ(offset.ns, 0);
}

TEST(ClockOffset, IsFoundWithinItsError) {
  const std::vector<int64_t> ahead{5'000'000'000, 0, 7'000'000'000'000};
  std::vector<ClockOffset> found = offsetsOf(ahead);
  for (size_t rank = 0; rank < ahead.size(); ++rank) {
    EXPECT_LE(std::abs(found[rank].ns - (ahead[rank] - ahead[0])), found[rank].error + 1) << rank;
    EXPECT_LT(found[rank].error, 1'000'000'000) << rank;
  }
}

} // namespace

//===- ClockOffset.cpp - clock offsets between ranks -------------------------===//
#include "runtime/collective/ClockOffset.h"

#include "runtime/collective/Driver.h"

#include <algorithm>

namespace dlc::runtime {

ClockOffset measureClockOffset(World &world, const std::function<int64_t()> &now) {
  constexpr int kRounds = 8;
  if (world.size() == 1)
    return {};
  auto clock = [&] { return now ? now() : steadyNs(); };
  auto ofAll = [&](int64_t mine) {
    std::vector<int64_t> all(static_cast<size_t>(world.size()));
    world.run({.collective = Collective::AllGather,
               .type = DType::I64,
               .from = &mine,
               .to = all.data(),
               .share = 1});
    return all;
  };
  const auto rank = static_cast<size_t>(world.rank());
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    // An all-gather completes on a rank only after all ranks have started it, so its start and end
    // times bound the clock offset.
    std::vector<int64_t> before = ofAll(clock());
    std::vector<int64_t> after = ofAll(clock());
    most = std::min(most, after[rank] - before[0]);
    least = std::max(least, before[rank] - after[0]);
  }
  int64_t error = (most - least) / 2;
  return {least <= 0 && most >= 0 ? 0 : least + error, error};
}

} // namespace dlc::runtime

//===- EngineTests.cpp - tests of collectives that every engine must pass -----===//
#include "EngineTests.h"

#include "runtime/program/Message.h"

#include <cstring>
#include <numeric>

using namespace dlc::runtime;

namespace dlc::test {
namespace {

constexpr uint64_t kCount = 5;
using Floats = std::vector<float>;

/// rank + 1, rank + 2, ...
Floats valuesOf(int rank, size_t count) {
  Floats values(count);
  std::iota(values.begin(), values.end(), static_cast<float>(rank + 1));
  return values;
}

Floats sumOf(int size, size_t count) {
  Floats sum(count);
  for (int rank = 0; rank < size; ++rank)
    for (size_t i = 0; i < count; ++i)
      sum[i] += valuesOf(rank, count)[i];
  return sum;
}

Floats part(const Floats &all, uint64_t first, uint64_t count) {
  return {all.begin() + static_cast<ptrdiff_t>(first),
          all.begin() + static_cast<ptrdiff_t>(first + count)};
}

void require(const World &world, const char *what, const Floats &found, const Floats &wanted) {
  if (found != wanted)
    fail("rank ", world.rank(), " of ", world.size(), ", ", what, ": required ", formatList(wanted),
         ", found ", formatList(found));
}

} // namespace

void eachCollective(World &world) {
  int rank = world.rank(), size = world.size();
  auto ranks = static_cast<uint64_t>(size), here = static_cast<uint64_t>(rank);
  const Floats mine = valuesOf(rank, kCount), sum = sumOf(size, kCount);

  Floats out(kCount), in = mine;
  world.run({.from = mine.data(), .to = out.data(), .share = kCount});
  require(world, "all_reduce", out, sum);
  world.run({.from = in.data(), .to = in.data(), .share = kCount});
  require(world, "all_reduce in place", in, sum);
  world.run({.from = mine.data(), .to = out.data(), .share = kCount, .reduction = Reduction::Max});
  require(world, "the greatest", out, valuesOf(size - 1, kCount));

  Floats all(kCount * ranks), each;
  for (int other = 0; other < size; ++other)
    for (float value : valuesOf(other, kCount))
      each.push_back(value);
  world.run({.collective = Collective::AllGather,
             .from = mine.data(),
             .to = all.data(),
             .share = kCount});
  require(world, "all_gather", all, each);
  all.assign(all.size(), 0);
  std::copy(mine.begin(), mine.end(), all.begin() + static_cast<ptrdiff_t>(here * kCount));
  world.run({.collective = Collective::AllGather,
             .from = all.data() + here * kCount,
             .to = all.data(),
             .share = kCount});
  require(world, "all_gather in place", all, each);

  const Floats wide = valuesOf(rank, kCount * ranks);
  world.run({.collective = Collective::ReduceScatter,
             .from = wide.data(),
             .to = out.data(),
             .share = kCount});
  require(world, "reduce_scatter", out, part(sumOf(size, kCount * ranks), here * kCount, kCount));

  for (int root : {0, size - 1}) {
    in = mine;
    CollectiveCall broadcast{.collective = Collective::Broadcast,
                             .from = mine.data(),
                             .to = out.data(),
                             .share = kCount,
                             .root = root};
    world.run(broadcast);
    require(world, "broadcast", out, valuesOf(root, kCount));
    broadcast.from = broadcast.to = in.data();
    world.run(broadcast);
    require(world, "broadcast in place", in, valuesOf(root, kCount));
  }
  world.barrier();
}

void eachType(World &world) {
  // The bit patterns of values differ between types, so the expected results are computed by
  // combine().
  for (int type = 0; type < kDTypeCount; ++type)
    for (Reduction how : {Reduction::Sum, Reduction::Max}) {
      auto dtype = static_cast<DType>(type);
      if (isPacked(dtype)) // packed types cannot be reduced
        continue;
      std::vector<char> mine(64 * dtypeBytes(dtype)), out(mine.size()), wanted;
      for (int rank = 0; rank < world.size(); ++rank) {
        std::vector<char> other(mine.size());
        // Small floating-point values: none of these bit patterns is NaN or infinite.
        for (size_t i = 0; i < other.size(); ++i)
          other[i] = dtype == DType::Bool
                         ? static_cast<char>((i + static_cast<size_t>(rank)) % 3 == 0)
                         : static_cast<char>(0x20 + rank);
        if (rank == 0)
          wanted = other;
        else
          combine(how, dtype, wanted.data(), other.data(), 64);
        if (rank == world.rank())
          mine = other;
      }
      world.run(
          {.type = dtype, .from = mine.data(), .to = out.data(), .share = 64, .reduction = how});
      // Float sums depend on the order of additions in their last bits. With at most two ranks
      // there is only one order.
      if (world.size() <= 2 || how == Reduction::Max ||
          (dtype != DType::F32 && dtype != DType::F64 && dtype != DType::F16 &&
           dtype != DType::BF16))
        if (out != wanted)
          fail("rank ", world.rank(), " of ", world.size(), ": ", reductionName(how), " of ",
               dtypeName(dtype), " is another than combine() makes");
    }
}

void manyAtOnce(World &world) {
  std::vector<std::vector<int64_t>> values(40, std::vector<int64_t>(10));
  std::vector<Ticket> tickets;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].assign(10, static_cast<int64_t>(i) + world.rank());
    tickets.push_back(world.start(
        {.type = DType::I64, .from = values[i].data(), .to = values[i].data(), .share = 10}));
  }
  int64_t size = world.size();
  for (size_t i = values.size(); i-- > 0;) {
    world.wait(tickets[i]);
    int64_t wanted = size * static_cast<int64_t>(i) + size * (size - 1) / 2;
    if (!world.done(tickets[i]) || values[i][9] != wanted)
      fail("rank ", world.rank(), ": sum ", i, " of many: required ", wanted, ", found ",
           values[i][9]);
    TicketTimes times = World::times(tickets[i]);
    if (size > 1 && (times.askedNs > times.startNs || times.startNs > times.endNs))
      fail("sum ", i, " of many began before it was asked for, or after it ended");
  }
}

uint64_t orderedSum(World &world) {
  constexpr int kChunks = 4;
  // A different order of additions changes the rounding of the sum of these values.
  Floats mine, sum(2);
  int each = kChunks / world.size();
  for (int chunk = world.rank() * each; chunk < (world.rank() + 1) * each; ++chunk)
    for (float value : {1e8f / static_cast<float>(chunk + 1), 0.1f * static_cast<float>(chunk)})
      mine.push_back(value);
  world.run({.collective = Collective::OrderedSum,
             .from = mine.data(),
             .to = sum.data(),
             .share = 2,
             .chunks = kChunks});
  uint64_t bits = 0;
  static_assert(sizeof bits == 2 * sizeof(float));
  std::memcpy(&bits, sum.data(), sizeof bits);
  return bits;
}

} // namespace dlc::test

//===- World.cpp - evaluates all ranks of a world in one process ----------===//
#include "ir/reference/World.h"

#include <thread>

using namespace mlir;

namespace dlc::ref {

namespace {
struct CurrentRank {
  World *world = nullptr;
  int rank = 0;
};
thread_local CurrentRank current;
} // namespace

World::Rank::Rank(World &world, int rank) { current = {&world, rank}; }
World::Rank::~Rank() { current = {}; }

int World::currentRank() { return current.rank; }
int World::currentSize() { return current.world ? current.world->size() : 1; }

std::optional<std::vector<Tensor>> World::meet(const Tensor &mine) {
  if (!current.world)
    return std::vector<Tensor>{mine};
  return current.world->exchange(current.rank, mine);
}

std::optional<std::vector<Tensor>> World::exchange(int rank, const Tensor &mine) {
  std::unique_lock lock(mutex);
  slots[size_t(rank)] = mine;
  const uint64_t now = round;
  if (++arrived == slots.size()) {
    met = slots;
    arrived = 0;
    ++round;
    changed.notify_all();
  }
  changed.wait(lock, [&] { return round != now || broken; });
  if (round == now)
    return std::nullopt;
  return met;
}

void World::leave() {
  std::lock_guard lock(mutex);
  broken = true;
  changed.notify_all();
}

LogicalResult evaluateWorld(FunctionOpInterface function, ArrayRef<SmallVector<Tensor>> inputs,
                            std::vector<SmallVector<Tensor>> &outputs) {
  World world(int(inputs.size()));
  outputs.assign(inputs.size(), {});
  // One flag per rank. In a vector<bool>, flags of several threads would share a byte.
  std::vector<char> done(inputs.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < inputs.size(); ++rank)
    threads.emplace_back([&, rank] {
      World::Rank here(world, int(rank));
      done[rank] = succeeded(evaluate(function, inputs[rank], outputs[rank]));
      if (!done[rank])
        world.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  return success(llvm::all_of(done, [](char one) { return one; }));
}

} // namespace dlc::ref

//===- World.h - the ranks of a small world, evaluated together -----------===//
#ifndef DLC_IR_REFERENCE_WORLD_H
#define DLC_IR_REFERENCE_WORLD_H

#include "ir/reference/Evaluate.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace dlc::ref {

/// Where the ranks of a world meet, each on a thread of its own.
class World {
public:
  explicit World(int size) : slots(size_t(size)) {}
  int size() const { return int(slots.size()); }

  /// What all ranks gave, once all have; none where a rank has failed.
  std::optional<std::vector<Tensor>> exchange(int rank, const Tensor &mine);
  /// A rank that comes no more: who waits for it stops.
  void leave();

  /// While it lives, this thread is a rank of the world.
  class Rank {
  public:
    Rank(World &world, int rank);
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;
  };
  /// Of this thread; a world of one where it is no rank.
  static int currentRank();
  static int currentSize();
  /// Among the ranks of this thread's world.
  static std::optional<std::vector<Tensor>> meet(const Tensor &mine);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Tensor> slots, met;
  size_t arrived = 0;
  uint64_t round = 0;
  bool broken = false;
};

/// Evaluates a function on all ranks of a world; inputs and outputs are by rank.
mlir::LogicalResult evaluateWorld(mlir::FunctionOpInterface function,
                                  llvm::ArrayRef<llvm::SmallVector<Tensor>> inputs,
                                  std::vector<llvm::SmallVector<Tensor>> &outputs);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_WORLD_H

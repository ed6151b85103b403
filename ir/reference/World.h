//===- World.h - evaluates all ranks of a world in one process ------------===//
#ifndef DLC_IR_REFERENCE_WORLD_H
#define DLC_IR_REFERENCE_WORLD_H

#include "ir/reference/Evaluate.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace dlc::ref {

/// Rendezvous of the simulated ranks of a world. Each rank runs on its own thread.
class World {
public:
  explicit World(int size) : slots(size_t(size)) {}
  int size() const { return int(slots.size()); }

  /// All-gathers a tensor: waits for all ranks and returns their tensors, indexed by rank. Returns
  /// nullopt if a rank has failed.
  std::optional<std::vector<Tensor>> exchange(int rank, const Tensor &mine);
  /// Marks that a rank has failed. Ranks that wait in `exchange` return nullopt.
  void leave();

  /// RAII scope in which the current thread is a rank of the world.
  class Rank {
  public:
    Rank(World &world, int rank);
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;
  };
  /// Returns the rank of this thread; a thread outside of a `Rank` scope is rank 0 of a world of
  /// size 1.
  static int currentRank();
  static int currentSize();
  /// All-gathers a tensor with the ranks of this thread's world (see `exchange`).
  static std::optional<std::vector<Tensor>> meet(const Tensor &mine);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Tensor> slots, met;
  size_t arrived = 0;
  uint64_t round = 0;
  bool broken = false;
};

/// Evaluates a function on all ranks of a simulated world. Inputs and outputs are indexed by rank.
mlir::LogicalResult evaluateWorld(mlir::FunctionOpInterface function,
                                  llvm::ArrayRef<llvm::SmallVector<Tensor>> inputs,
                                  std::vector<llvm::SmallVector<Tensor>> &outputs);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_WORLD_H

//===- Grouping.h - partition of a block into kernels ---------------------===//
#ifndef DLC_PASSES_FUSE_GROUPING_GROUPING_H
#define DLC_PASSES_FUSE_GROUPING_GROUPING_H

#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/grouping/TransferDependencies.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

/// Partition of a block's operations into groups. Each group becomes one kernel. An operation is in
/// at most one group; constants, aliases and operations that run as commands of their own are in
/// none. Before an operation is added to a group, isFree() must hold. Operations are erased by
/// erase(), so that no group contains an erased operation.
class Grouping {
public:
  struct Group {
    llvm::SetVector<mlir::Operation *> ops;
    /// Whether the group is complete, so that no operation may be added.
    bool closed = false;
  };

  explicit Grouping(mlir::Block &block) : block(block), transferDependencies(block) {}

  mlir::Block &getBlock() { return block; }
  int groupOf(mlir::Operation *op) const;
  bool isFree(mlir::Operation *op) const { return groupOf(op) < 0; }
  Group &operator[](int group) { return groups[group]; }
  const Group &operator[](int group) const { return groups[group]; }
  int size() const { return static_cast<int>(groups.size()); }

  int create(llvm::ArrayRef<mlir::Operation *> ops, bool closed);
  /// Adds an operation that is in no group.
  void add(int group, mlir::Operation *op);
  /// Assigns each operation of the block its position in program order. Must be called before
  /// makesCycle() after operations were added or erased.
  void number();
  /// Gives the clone of an operation the same position and transfer dependencies as the original.
  void numberLike(mlir::Operation *copy, mlir::Operation *op) {
    positions[copy] = positions[op];
    transferDependencies.copyOf(copy, op);
  }
  /// Returns whether one kernel of these operations delays none of them by a transfer between
  /// devices that only other operations of the kernel depend on.
  bool haveSameDependencies(llvm::ArrayRef<mlir::Operation *> ops) {
    return transferDependencies.dependOnSameTransfers(ops);
  }
  /// Erases the operation from its group and from the block.
  void erase(mlir::Operation *op);
  /// Erases all operations that have no users and no side effects.
  void eraseDead();

  /// Returns the operations of this block that use a result of `op`. A user in a nested region
  /// counts as the operation of this block that contains it.
  llvm::SmallSetVector<mlir::Operation *, 8> usersInBlock(mlir::Operation *op) const;

  /// Returns whether a kernel of `group` and `op` would depend on its own results.
  bool makesCycle(int group, mlir::Operation *op) const;

  /// Returns whether one kernel of both groups would depend on its own results.
  bool makesCycle(int group, int other) const;
  /// Moves all operations of `other` to `group`.
  void merge(int group, int other);

  /// Returns the distinct values that the group reads and that are defined outside of it, without
  /// splat constants.
  llvm::SmallSetVector<mlir::Value, 16> inputsOf(int group) const;
  /// Returns the results that have users outside of the group.
  llvm::SmallVector<mlir::Value> outputsOf(int group) const;

private:
  bool reaches(llvm::ArrayRef<mlir::Operation *> from, int group, mlir::Operation *op) const;
  /// Returns whether no operation at or before the position `last` can depend on the operation at
  /// `position`, so that a search for cycles may stop there.
  bool isPast(int position, int last) const;
  void spanWindow(const Group &group);

  mlir::Block &block;
  TransferDependencies transferDependencies;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, int> groupByOp;
  llvm::DenseMap<mlir::Operation *, int> positions;
  /// For each position in the block, the lowest position of a member of any group that spans this
  /// position. An operation depends only on earlier operations, but the kernel of a group depends
  /// on the operands of all members of the group.
  std::vector<int> lowest;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_GROUPING_H

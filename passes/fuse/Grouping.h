//===- Grouping.h - partition of a block into kernels ---------------------===//
#ifndef DLC_PASSES_FUSE_GROUPING_H
#define DLC_PASSES_FUSE_GROUPING_H

#include "passes/fuse/Classify.h"
#include "passes/fuse/TransferDependencies.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

/// Partition of a block's operations into groups. Each group becomes one kernel. An operation is in
/// at most one group; constants, aliases and commands of their own are in none. Before an operation
/// is added to a group, isFree() must hold. Operations are erased by erase(), so that no group
/// contains an erased operation.
class Grouping {
public:
  struct Group {
    llvm::SetVector<mlir::Operation *> ops;
    /// Whether the group is complete and no operation may be added.
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
  /// Numbers the operations of the block. Must be called before makesCycle() after operations were
  /// added or erased.
  void number();
  /// Gives the clone of an operation the position and the awaited transfers of the original.
  void numberLike(mlir::Operation *copy, mlir::Operation *op) {
    positions[copy] = positions[op];
    transferDependencies.copyOf(copy, op);
  }
  /// Whether a single kernel of these operations delays none of them by a transfer that only other
  /// ones need.
  bool haveSameDependencies(llvm::ArrayRef<mlir::Operation *> ops) {
    return transferDependencies.dependOnSameTransfers(ops);
  }
  /// Erases the operation from its group and from the block.
  void erase(mlir::Operation *op);
  /// Erases all operations without users and side effects.
  void eraseDead();

  /// Operations of this block that use a result of `op`. A user in a nested region counts as the
  /// operation of this block that contains it.
  llvm::SmallSetVector<mlir::Operation *, 8> usersInBlock(mlir::Operation *op) const;

  /// Whether a kernel of `group` and `op` would depend on its own results.
  bool makesCycle(int group, mlir::Operation *op) const;

  /// Whether a kernel of both groups would depend on its own results.
  bool makesCycle(int group, int other) const;
  /// Moves all operations of `other` to `group`.
  void merge(int group, int other);

  /// Distinct values that the group reads and that are defined outside of it, without splat
  /// constants.
  llvm::SmallSetVector<mlir::Value, 16> inputsOf(int group) const;
  /// Results that have users outside of the group.
  llvm::SmallVector<mlir::Value> outputsOf(int group) const;

private:
  bool reaches(llvm::ArrayRef<mlir::Operation *> from, int group, mlir::Operation *op) const;
  /// Whether no operation at or before the position `last` can depend on the operation at
  /// `position`.
  bool isPast(int position, int last) const;
  void spanWindow(const Group &group);

  mlir::Block &block;
  TransferDependencies transferDependencies;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, int> groupByOp;
  llvm::DenseMap<mlir::Operation *, int> positions;
  /// For each position, the lowest position of a member of any group that spans the position. An
  /// operation depends only on earlier ones, but a kernel depends on the operands of all of its
  /// members.
  std::vector<int> lowest;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_H

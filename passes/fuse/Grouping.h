//===- Grouping.h - which operations of a block run together --------------===//
#ifndef DLC_PASSES_FUSE_GROUPING_H
#define DLC_PASSES_FUSE_GROUPING_H

#include "passes/fuse/Classify.h"
#include "passes/fuse/Waits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

/// A partition of a block's operations. Every operation is in no group (a constant, an alias, its
/// own command) or in one; a group becomes one kernel. Who wants an operation for a group asks
/// whether it is free, and who erases one does it here: a group never holds what is gone, or what
/// another has.
class Grouping {
public:
  struct Group {
    llvm::SetVector<mlir::Operation *> ops;
    /// Complete as it is: nothing may join.
    bool closed = false;
  };

  explicit Grouping(mlir::Block &block) : block(block), waits(block) {}

  mlir::Block &getBlock() { return block; }
  int groupOf(mlir::Operation *op) const;
  bool isFree(mlir::Operation *op) const { return groupOf(op) < 0; }
  Group &operator[](int group) { return groups[group]; }
  const Group &operator[](int group) const { return groups[group]; }
  int size() const { return static_cast<int>(groups.size()); }

  int create(llvm::ArrayRef<mlir::Operation *> ops, bool closed);
  /// `op` is free.
  void add(int group, mlir::Operation *op);
  /// Numbers the block's operations; to be called after operations were added or erased, before
  /// makesCycle().
  void number();
  /// `copy` stands where `op` stands.
  void numberLike(mlir::Operation *copy, mlir::Operation *op) {
    positions[copy] = positions[op];
    waits.copyOf(copy, op);
  }
  /// Whether one kernel of them would hold up none of its work by transfers that the rest needs.
  bool waitAlike(llvm::ArrayRef<mlir::Operation *> ops) { return waits.alike(ops); }
  /// Takes the operation out of its group, and out of the block.
  void erase(mlir::Operation *op);
  /// All that nothing uses.
  void eraseDead();

  /// Operations of this block that use a result of `op`, nested regions counting as the operation
  /// that holds them.
  llvm::SmallSetVector<mlir::Operation *, 8> usersInBlock(mlir::Operation *op) const;

  /// Whether one kernel of `group` and `op` would have to wait for itself.
  bool makesCycle(int group, mlir::Operation *op) const;

  /// Whether one kernel of two groups would have to wait for itself.
  bool makesCycle(int group, int other) const;
  /// All of `other` joins `group`.
  void merge(int group, int other);

  /// Distinct values that the group reads from outside, splat constants apart.
  llvm::SmallSetVector<mlir::Value, 16> inputsOf(int group) const;
  /// Results that are used outside the group.
  llvm::SmallVector<mlir::Value> outputsOf(int group) const;

private:
  bool reaches(llvm::ArrayRef<mlir::Operation *> from, int group, mlir::Operation *op) const;
  /// Whether nothing at or before position `last` waits for what stands at `position`.
  bool isPast(int position, int last) const;
  void spanWindow(const Group &group);

  mlir::Block &block;
  Waits waits;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, int> groupByOp;
  llvm::DenseMap<mlir::Operation *, int> positions;
  /// For each position: the first position of any kernel that has a member there or later.
  /// Operations wait for earlier ones only, but a kernel waits as a whole.
  std::vector<int> lowest;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_H

//===- Siblings.cpp - merges kernels that read the same large operand -----===//
//
// Examples are the sums of dy and of dy * x, a loss and its gradient, or a gradient and its sum for
// a bias. A single pass over memory suffices for such kernels, although none of them consumes
// another one's result, or their common producer was fused into one of them. Two kernels are merged
// if they iterate over the same shape, all of their reductions have the same shape and axes, and
// neither depends on the other by way of a third kernel.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/analysis/Rematerialised.h"
#include "passes/fuse/grouping/FuseSteps.h"
#include "passes/fuse/grouping/IndexSpace.h"

using namespace mlir;

namespace dlc {
namespace {

/// Minimum size of a shared operand in bytes. Smaller operands are not considered, because reading
/// them again from the L2 cache costs little.
constexpr int64_t smallBytes = 64 << 10;

class SiblingMerger {
public:
  explicit SiblingMerger(Grouping &grouping) : grouping(grouping) {}

  void run() {
    SmallVector<Value> values(grouping.getBlock().getArguments());
    for (Operation &op : grouping.getBlock())
      llvm::append_range(values, op.getResults());
    for (Value value : values)
      if (auto type = dyn_cast<RankedTensorType>(value.getType());
          type && type.hasStaticShape() && bytesOf(type) >= smallBytes)
        mergeReaders(value);
  }

private:
  /// Returns the groups that read or compute the value and that can still be extended, in the order
  /// in which the groups were created.
  SmallVector<int> readersOf(Value value) {
    llvm::SmallSetVector<int, 8> readers;
    auto take = [&](Operation *op) {
      int group = op ? grouping.groupOf(op) : -1;
      if (group >= 0 && !grouping[group].closed)
        readers.insert(group);
    };
    take(value.getDefiningOp());
    for (Operation *user : value.getUsers())
      take(user);
    SmallVector<int> sorted(readers.getArrayRef());
    llvm::sort(sorted);
    return sorted;
  }

  void mergeReaders(Value value) {
    SmallVector<int> readers = readersOf(value);
    for (size_t i = 0; i < readers.size(); ++i)
      for (size_t k = i + 1; k < readers.size();)
        if (tryMerge(value, readers[i], readers[k]))
          readers.erase(readers.begin() + k);
        else
          ++k;
  }

  bool tryMerge(Value value, int group, int other) {
    SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
    llvm::append_range(ops, grouping[other].ops);
    if (int(ops.size()) > maxFusionOps || !fitInputs(group, other) || wouldHoistCopy(ops) ||
        !grouping.haveSameDependencies(ops) || !agreeOnLayout(ops) || !walkParts(ops) ||
        !shareSpace(value, ops) || grouping.makesCycle(group, other))
      return false;
    grouping.merge(group, other);
    return true;
  }

  bool fitInputs(int group, int other) {
    auto inputs = grouping.inputsOf(group);
    for (Value input : grouping.inputsOf(other))
      inputs.insert(input);
    return int(inputs.size()) <= maxFusionInputs;
  }

  /// Returns whether all of the operations can be computed by one kernel that iterates over the
  /// shape of `value`.
  bool shareSpace(Value value, ArrayRef<Operation *> ops) {
    llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
    ReduceOp reduce;
    for (Operation *op : ops)
      if (auto candidate = dyn_cast<ReduceOp>(op); candidate && !reduce)
        reduce = candidate;
    if (reduce && shapeOf(reduce.getX()) != shapeOf(value))
      return false;
    IndexSpace space(shapeOf(value), reduce);
    for (Operation *op : consumersFirst(ops, inside)) {
      SmallVector<Operation *> users;
      bool others = false;
      for (Operation *user : grouping.usersInBlock(op))
        inside.contains(user) ? users.push_back(user) : void(others = true);
      if (users.empty()) {
        if (!space.acceptsRoot(op))
          return false;
        space.addRoot(op);
        continue;
      }
      if (!space.accepts(op, users, others))
        return false;
      space.add(op, users);
    }
    return true;
  }

  SmallVector<Operation *> consumersFirst(ArrayRef<Operation *> ops,
                                          const llvm::DenseSet<Operation *> &inside) {
    SmallVector<Operation *> order;
    llvm::DenseSet<Operation *> seen;
    std::function<void(Operation *)> visit = [&](Operation *op) {
      if (!inside.contains(op) || !seen.insert(op).second)
        return;
      for (Operation *user : grouping.usersInBlock(op))
        visit(user);
      order.push_back(op);
    };
    for (Operation *op : ops)
      visit(op);
    return order;
  }

  Grouping &grouping;
};

} // namespace

void mergeSiblings(Grouping &grouping) { SiblingMerger(grouping).run(); }

} // namespace dlc

//===- Lifetimes.cpp - estimates the memory of a function -----------------===//
#include "passes/grad/recompute/Lifetimes.h"

#include "ir/dlc/Attributes.h"
#include "ir/tensor/Tensor.h"

#include <functional>
#include <map>

using namespace mlir;

namespace dlc::grad {

int64_t tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? ref::storageBytes(tensor) : 0;
}

Value MemoryEstimator::rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// Returns the operation of the block that contains the use, directly or in a region.
static Operation *findUserInBlock(Block &block, OpOperand &use) {
  return block.findAncestorOpInBlock(*use.getOwner());
}

static bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>(); }

/// Returns whether the result is passed in registers: the operation is elementwise, a broadcast or
/// an iota, and its only user can be fused with it.
bool MemoryEstimator::passesInRegisters(Operation *op) const {
  if (!isElementwise(op) && !isa<BroadcastOp, IotaOp>(op))
    return false;
  if (!op->getResult(0).hasOneUse())
    return false;
  Operation *user = *op->getResult(0).getUsers().begin();
  return user->getBlock() == op->getBlock() && (isElementwise(user) || isa<ReduceOp>(user));
}

/// Collects the updates of a block: operations on which no result of the function depends except
/// states.
static void findStateUpdates(Block &block, llvm::DenseSet<Operation *> &updates) {
  auto function = dyn_cast<func::FuncOp>(block.getParentOp());
  if (!function)
    return;
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> work;
  auto need = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == &block && needed.insert(def).second)
      work.push_back(def);
  };
  bool hasState = false;
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    if (function.getResultAttr(result.getOperandNumber(), kStateAttr))
      hasState = true;
    else
      need(result.get());
  }
  while (!work.empty())
    work.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        need(operand);
    });
  if (!hasState)
    return;
  for (Operation &op : block.without_terminator())
    if (!needed.contains(&op))
      updates.insert(&op);
}

/// Returns the operations in program order, except that an update of a state runs as soon as its
/// operands are available and it frees as much memory as it allocates. Commands will be ordered in
/// the same way.
static SmallVector<Operation *> computeExecutionOrder(Block &block,
                                                      const llvm::DenseSet<Operation *> &updates) {
  constexpr int64_t tiny = 4096;
  llvm::DenseMap<Operation *, int64_t> index, waits;
  llvm::DenseMap<Operation *, SmallVector<Value>> reads;
  llvm::DenseMap<Value, int64_t> readers;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> next;
  llvm::DenseSet<Value> given;
  for (Value value : block.getTerminator()->getOperands())
    given.insert(MemoryEstimator::rootOf(value));
  int64_t count = 0;
  for (Operation &op : block) {
    index[&op] = count++;
    llvm::SmallDenseSet<Operation *> before;
    llvm::SmallDenseSet<Value> roots;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block) {
          before.insert(def);
          roots.insert(MemoryEstimator::rootOf(operand));
        }
    });
    waits[&op] = int64_t(before.size());
    for (Operation *def : before)
      next[def].push_back(&op);
    if (isa<ReshapeOp>(op))
      continue;
    for (Value root : roots) {
      reads[&op].push_back(root);
      ++readers[root];
    }
  }
  auto freesEnough = [&](Operation *op) {
    int64_t takes = 0, frees = 0;
    for (Value result : op->getResults())
      takes += given.contains(result) ? 0 : tensorBytes(result.getType());
    for (Value root : reads.lookup(op))
      if (readers.lookup(root) == 1 && !root.getDefiningOp<ConstantOp>())
        frees += tensorBytes(root.getType());
    return takes <= std::max(frees, tiny);
  };
  std::map<int64_t, Operation *> ready, readyUpdates;
  auto release = [&](Operation *op) {
    ready[index.lookup(op)] = op;
    if (updates.contains(op))
      readyUpdates[index.lookup(op)] = op;
  };
  for (Operation &op : block)
    if (waits.lookup(&op) == 0)
      release(&op);
  SmallVector<Operation *> order;
  while (!ready.empty()) {
    Operation *op = ready.begin()->second;
    for (auto &[at, update] : readyUpdates)
      if (freesEnough(update)) {
        op = update;
        break;
      }
    ready.erase(index.lookup(op));
    readyUpdates.erase(index.lookup(op));
    order.push_back(op);
    for (Value root : reads.lookup(op))
      --readers[root];
    for (Operation *user : next.lookup(op))
      if (--waits[user] == 0)
        release(user);
  }
  return order;
}

/// Assigns each operation its position in execution order. Operations whose result is passed in
/// registers get the position of their user.
void MemoryEstimator::place(Block &block) {
  order = computeExecutionOrder(block, updates);
  for (auto [at, op] : llvm::enumerate(order))
    positions[op] = int64_t(at);
  for (Operation *op : llvm::reverse(order))
    if (passesInRegisters(op))
      positions[op] = positions.lookup(*op->getResult(0).getUsers().begin());
}

void MemoryEstimator::measure(Block &block) {
  llvm::DenseSet<Value> given;
  Operation *end = block.getTerminator();
  for (Value value : end->getOperands())
    given.insert(rootOf(value));
  for (Operation &op : block) {
    if (isa<ConstantOp>(op)) {
      if (!splatValue(op.getResult(0)))
        fixed += tensorBytes(op.getResult(0).getType());
      continue;
    }
    if (isa<ReshapeOp>(op))
      continue;
    bool registers = passesInRegisters(&op);
    for (Value result : op.getResults()) {
      bool outside = given.contains(result) && isa<func::FuncOp>(block.getParentOp());
      int64_t at = positions.lookup(&op);
      lives[result] = {at, at, registers || outside ? 0 : tensorBytes(result.getType())};
    }
  }
  std::function<void(Value, Value)> extend = [&](Value root, Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = findUserInBlock(block, use);
      if (!user)
        continue;
      if (isa<ReshapeOp>(user)) {
        extend(root, user->getResult(0));
        continue;
      }
      LiveRange &life = lives[root];
      life.last = std::max(life.last, positions.lookup(user));
    }
  };
  SmallVector<Value> roots;
  for (auto &[value, life] : lives)
    if (value.getParentBlock() == &block)
      roots.push_back(value);
  for (Value root : roots)
    extend(root, root);
  // The result of an elementwise operation reuses the memory of an operand whose last reader is
  // this operation.
  llvm::DenseSet<Value> taken;
  for (Operation *op : order) {
    if (!isElementwise(op) || op->getNumResults() != 1 || !lives.contains(op->getResult(0)))
      continue;
    LiveRange &result = lives[op->getResult(0)];
    for (Value operand : op->getOperands()) {
      auto it = lives.find(rootOf(operand));
      if (it == lives.end() || it->second.last != result.first || it->second.bytes < result.bytes ||
          !taken.insert(it->first).second)
        continue;
      ++result.first;
      break;
    }
  }
}

MemoryEstimator::MemoryEstimator(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kStateAttr))
      fixed += tensorBytes(argument.getType());
  findStateUpdates(block, updates);
  place(block);
  measure(block);
  // The memory of a region is estimated by its upper bound, the sum of all values that the region
  // computes.
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value result : inner->getResults())
          inside[positions.lookup(&op)] += tensorBytes(result.getType());
      });
  int64_t count = int64_t(std::distance(block.begin(), block.end()));
  std::vector<int64_t> change(size_t(count) + 2);
  for (auto &[value, life] : lives)
    if (life.first <= life.last || life.bytes == 0) {
      change[size_t(life.first)] += life.bytes;
      change[size_t(std::max(life.first, life.last)) + 1] -= life.bytes;
    }
  int64_t alive = 0;
  for (int64_t at = 0; at < count; ++at) {
    alive += change[size_t(at)];
    if (int64_t here = alive + inside.lookup(at); here > peak) {
      peak = here;
      peakPosition = at;
    }
  }
  if (peakPosition >= 0)
    peakAt = order[size_t(peakPosition)];
}

int64_t MemoryEstimator::bytesOf(Value value) const {
  auto it = lives.find(value);
  return it == lives.end() ? 0 : it->second.bytes;
}

bool MemoryEstimator::idlesAtPeak(Value value) const {
  auto it = lives.find(value);
  if (it == lives.end() || it->second.first >= peakPosition || it->second.last <= peakPosition)
    return false;
  return llvm::none_of(value.getUsers(), [&](Operation *user) {
    Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user);
    return here && positions.lookup(here) == peakPosition;
  });
}

} // namespace dlc::grad

//===- Grouping.cpp - partition of a block into kernels -------------------===//
#include "passes/fuse/grouping/Grouping.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dlc {

int Grouping::groupOf(Operation *op) const {
  auto it = groupByOp.find(op);
  return it == groupByOp.end() ? -1 : it->second;
}

int Grouping::create(ArrayRef<Operation *> ops, bool closed) {
  int group = size();
  groups.emplace_back();
  groups.back().closed = closed;
  for (Operation *op : ops)
    add(group, op);
  return group;
}

void Grouping::add(int group, Operation *op) {
  assert(isFree(op) && "an operation is in one group at most");
  groups[group].ops.insert(op);
  groupByOp[op] = group;
  if (!lowest.empty())
    spanWindow(groups[group]);
}

void Grouping::erase(Operation *op) {
  if (int group = groupOf(op); group >= 0)
    groups[group].ops.remove(op);
  groupByOp.erase(op);
  positions.erase(op);
  op->erase();
}

void Grouping::eraseDead() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      erase(&op);
}

void Grouping::number() {
  positions.clear();
  int position = 0;
  for (Operation &op : block)
    positions[&op] = position++;
  lowest.resize(position);
  for (int i = 0; i < position; ++i)
    lowest[i] = i;
  for (const Group &group : groups)
    spanWindow(group);
}

void Grouping::spanWindow(const Group &group) {
  int first = static_cast<int>(lowest.size()), last = -1;
  for (Operation *op : group.ops) {
    int position = positions.lookup(op);
    first = std::min(first, position);
    last = std::max(last, position);
  }
  for (int i = last; i > first; --i)
    lowest[i] = std::min(lowest[i], first);
}

bool Grouping::isPast(int position, int last) const {
  while (position > last && lowest[position] < position)
    position = lowest[position];
  return position > last;
}

llvm::SmallSetVector<Operation *, 8> Grouping::usersInBlock(Operation *op) const {
  llvm::SmallSetVector<Operation *, 8> users;
  for (Operation *user : op->getUsers())
    if (Operation *ancestor = block.findAncestorOpInBlock(*user))
      users.insert(ancestor);
  return users;
}

bool Grouping::reaches(ArrayRef<Operation *> from, int group, Operation *target) const {
  int last = target ? positions.lookup(target) : -1;
  if (group >= 0)
    for (Operation *member : groups[group].ops)
      last = std::max(last, positions.lookup(member));
  SmallVector<Operation *> work(from);
  llvm::DenseSet<Operation *> seen(from.begin(), from.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    int own = groupOf(op);
    if (op == target || (group >= 0 && own == group))
      return true;
    if (isPast(positions.lookup(op), last))
      continue;
    // The search for cycles continues with the users of all results of a kernel, because each
    // result of a kernel depends on all of its operands.
    auto visitUsers = [&](Operation *member) {
      for (Operation *user : usersInBlock(member))
        if (seen.insert(user).second)
          work.push_back(user);
    };
    if (own < 0) {
      visitUsers(op);
      continue;
    }
    for (Operation *member : groups[own].ops) {
      seen.insert(member);
      visitUsers(member);
    }
  }
  return false;
}

bool Grouping::makesCycle(int group, Operation *op) const {
  SmallVector<Operation *> usersOutside, groupUsersOutside;
  for (Operation *user : usersInBlock(op))
    if (groupOf(user) != group)
      usersOutside.push_back(user);
  if (reaches(usersOutside, group, nullptr))
    return true;
  for (Operation *member : groups[group].ops)
    for (Operation *user : usersInBlock(member))
      if (groupOf(user) != group)
        groupUsersOutside.push_back(user);
  return reaches(groupUsersOutside, -1, op);
}

bool Grouping::makesCycle(int group, int other) const {
  SmallVector<Operation *> usersOutside;
  for (int own : {group, other})
    for (Operation *member : groups[own].ops)
      for (Operation *user : usersInBlock(member))
        if (int users = groupOf(user); users != group && users != other)
          usersOutside.push_back(user);
  return reaches(usersOutside, group, nullptr) || reaches(usersOutside, other, nullptr);
}

void Grouping::merge(int group, int other) {
  SmallVector<Operation *> moved(groups[other].ops.getArrayRef());
  groups[other].ops.clear();
  for (Operation *op : moved) {
    groupByOp.erase(op);
    add(group, op);
  }
}

llvm::SmallSetVector<Value, 16> Grouping::inputsOf(int group) const {
  llvm::SmallSetVector<Value, 16> inputs;
  for (Operation *op : groups[group].ops)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!(def && groupOf(def) == group) && !splatValue(operand))
        inputs.insert(operand);
    }
  return inputs;
}

SmallVector<Value> Grouping::outputsOf(int group) const {
  SmallVector<Value> outputs;
  for (Operation *op : groups[group].ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            Operation *ancestor = block.findAncestorOpInBlock(*user);
            return !ancestor || groupOf(ancestor) != group;
          }))
        outputs.push_back(result);
  return outputs;
}

} // namespace dlc

//===- TransferDependencies.cpp - transfers that operations depend on -----===//
#include "passes/fuse/grouping/TransferDependencies.h"

#include "passes/fuse/analysis/Classify.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

/// Maximum size in bytes of tensors whose operations may wait for unrelated transfers, because a
/// delay of so little work costs nothing.
constexpr int64_t littleBytes = 16 << 10;

bool isCheapOp(Operation *op) {
  NodeClass kind = classify(op);
  return (kind == NodeClass::Map || kind == NodeClass::Reduce || kind == NodeClass::Alias) &&
         llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      [](Type type) { return bytesOf(type) <= littleBytes; });
}

} // namespace

TransferDependencies::TransferDependencies(Block &block) : block(block), sets(1) {
  numbers[{}] = 0;
  hasTransfers = llvm::any_of(block, [](Operation &op) { return isa<TransferOp>(op); });
  // The sets of transfers are computed in block order, so that the recursion of setOf() stays
  // shallow.
  if (hasTransfers)
    for (Operation &op : block)
      setOf(&op);
}

unsigned TransferDependencies::numberOf(Set set) {
  auto [at, isNew] = numbers.try_emplace(set, unsigned(sets.size()));
  if (isNew)
    sets.push_back(std::move(set));
  return at->second;
}

unsigned TransferDependencies::setOf(Operation *op) {
  if (auto at = known.find(op); at != known.end())
    return at->second;
  unsigned number = 0;
  auto join = [&](unsigned other) {
    if (other == number || other == 0)
      return;
    Set both;
    std::set_union(sets[number].begin(), sets[number].end(), sets[other].begin(), sets[other].end(),
                   std::back_inserter(both));
    number = numberOf(std::move(both));
  };
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &block)
        join(setOf(maker));
  });
  // A transfer of a block argument starts at the beginning of the block and delays nothing, so that
  // dependences on such transfers are ignored.
  if (auto transfer = dyn_cast<TransferOp>(op); transfer && transfer.getX().getDefiningOp())
    join(numberOf({op}));
  return known[op] = number;
}

bool TransferDependencies::dependOnSameTransfers(ArrayRef<Operation *> ops) {
  if (!hasTransfers)
    return true;
  Set all;
  for (Operation *op : ops) {
    Set both;
    const Set &own = sets[setOf(op)];
    std::set_union(all.begin(), all.end(), own.begin(), own.end(), std::back_inserter(both));
    all = std::move(both);
  }
  unsigned whole = numberOf(std::move(all));
  return llvm::all_of(ops, [&](Operation *op) { return setOf(op) == whole || isCheapOp(op); });
}

void TransferDependencies::copyOf(Operation *copy, Operation *op) {
  if (hasTransfers)
    known[copy] = setOf(op);
}

} // namespace dlc

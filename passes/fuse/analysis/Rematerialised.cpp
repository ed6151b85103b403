//===- Rematerialised.cpp - keeps rematerialized values separate from the originals ----===//
#include "passes/fuse/analysis/Rematerialised.h"

#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/Classify.h"

#include <functional>

using namespace mlir;

namespace dlc {

static bool isCopy(Operation *op) { return op->hasAttr(kRecomputedAttr); }

bool wouldHoistCopy(ArrayRef<Operation *> ops) {
  Operation *copy = nullptr, *first = nullptr;
  for (Operation *op : ops) {
    Operation *&earliest = isCopy(op) ? copy : first;
    if (!earliest || op->isBeforeInBlock(earliest))
      earliest = op;
  }
  if (!copy || !first || copy->isBeforeInBlock(first))
    return false;
  for (Operation *op = first; op != copy; op = op->getNextNode()) {
    NodeClass kind = classify(op);
    if (kind == NodeClass::Contraction || kind == NodeClass::Pool || kind == NodeClass::Opaque)
      return true;
  }
  return false;
}

bool hasCopies(Block &block) {
  return llvm::any_of(block, [](Operation &op) { return isCopy(&op); });
}

void sortByUse(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  Operation *end = block.getTerminator();
  llvm::DenseSet<Operation *> placed;
  std::function<void(Operation *)> place = [&](Operation *op) {
    if (!op || !placed.insert(op).second)
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block)
          place(def);
    });
    op->moveBefore(end);
  };
  for (Operation *op : ops)
    place(op);
}

} // namespace dlc

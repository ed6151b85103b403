//===- HoistCollectives.cpp - hoists collectives to the producers of their operands -===//
//
// Commands are issued in block order. A collective far after the producer of its operand starts
// late and overlaps with less computation. Views, concatenations, casts and constants between the
// producer and the collective are hoisted with it.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Collective.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc {

namespace {

/// Views, concatenations, casts and constants from which the collective's operand is derived, and
/// the last operation that produces their inputs.
struct OperandProducers {
  llvm::SetVector<Operation *> between;
  Operation *last = nullptr;
};

OperandProducers findOperandProducers(Operation *collective) {
  OperandProducers written;
  SmallVector<Operation *> work{collective};
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != collective->getBlock())
        continue;
      if (isa<ReshapeOp, SliceOp, ConcatOp, CastOp, ConstantOp>(def)) {
        if (written.between.insert(def))
          work.push_back(def);
      } else if (!written.last || written.last->isBeforeInBlock(def)) {
        written.last = def;
      }
    }
  return written;
}

void hoistCollective(Operation *collective) {
  OperandProducers written = findOperandProducers(collective);
  if (!written.last)
    return;
  SmallVector<Operation *> moved = written.between.takeVector();
  llvm::sort(moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  moved.push_back(collective);
  Operation *place = written.last;
  for (Operation *op : moved)
    if (place->isBeforeInBlock(op)) {
      op->moveAfter(place);
      place = op;
    }
}

struct HoistCollectivesPass : PassWrapper<HoistCollectivesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistCollectivesPass)

  StringRef getArgument() const final { return "dlc-hoist-collectives"; }
  StringRef getDescription() const final {
    return "moves reduce-scatters and all-gathers up to directly after their operands";
  }

  void runOnOperation() final {
    SmallVector<Operation *> collectives;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        for (Operation &op : function.getBody().front())
          if (isa<ReduceScatterOp, AllGatherOp>(op))
            collectives.push_back(&op);
    for (Operation *op : collectives)
      hoistCollective(op);
  }
};

} // namespace

std::unique_ptr<Pass> createHoistCollectivesPass() {
  return std::make_unique<HoistCollectivesPass>();
}

} // namespace dlc

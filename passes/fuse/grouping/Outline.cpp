//===- Outline.cpp - outlines groups as dlc.fusion ------------------------===//
#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/Rematerialised.h"
#include "passes/fuse/grouping/FuseSteps.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

void outlineGroup(Grouping &grouping, int group) {
  SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // The inputs of a fusion are in the order of their first use, so that the printed IR is
  // deterministic.
  llvm::SmallSetVector<Value, 16> inputs, known = grouping.inputsOf(group);
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (known.contains(operand))
        inputs.insert(operand);
  SmallVector<Value> outputs = grouping.outputsOf(group);
  llvm::sort(outputs, [](Value a, Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return x == y ? cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber()
                  : x->isBeforeInBlock(y);
  });
  SmallVector<Location> locations =
      llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); });
  OpBuilder builder(ops.back());
  builder.setInsertionPointAfter(ops.back());
  Location loc = FusedLoc::get(builder.getContext(), locations);
  auto fusion = FusionOp::create(builder, loc, TypeRange(ValueRange(outputs)),
                                 ValueRange(inputs.getArrayRef()));
  Block &body = fusion.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        builder.clone(*operand.getDefiningOp(), mapping); // the operand is a splat constant
    // The attribute that marks rematerialized copies is removed, so that kernels that differ only
    // by it are equal.
    builder.clone(*op, mapping)->removeAttr(kRecomputedAttr);
  }
  SmallVector<Value> yielded =
      llvm::map_to_vector(outputs, [&](Value output) { return mapping.lookup(output); });
  YieldOp::create(builder, loc, yielded);
  for (auto [output, result] : llvm::zip(outputs, fusion.getResults()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    grouping.erase(op);
}

} // namespace

void outlineGroups(Grouping &grouping) {
  bool copies = hasCopies(grouping.getBlock());
  for (int group = 0; group < grouping.size(); ++group)
    if (!grouping[group].ops.empty())
      outlineGroup(grouping, group);
  // Each fusion was created at the position of its last operation, which users of its other results
  // may precede, so that the block must be sorted. If there are rematerialized copies, sortByUse()
  // sorts it, because a topological sort would move the copies to the first position at which their
  // operands are available.
  if (copies)
    sortByUse(grouping.getBlock());
  else
    sortTopologically(&grouping.getBlock());
}

} // namespace dlc

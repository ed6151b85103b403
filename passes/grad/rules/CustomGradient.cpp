//===- CustomGradient.cpp - gradients that the model defines --------------===//
//
// The operations that compute `dxs` are in the forward block, on placeholders (cotangents) for the
// gradients of the results. The gradient rule clones those operations that depend on the
// placeholders into the backward pass. The others are shared with the forward pass.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/CustomGradient.h"
#include "passes/grad/Rules.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace dlc::grad {

/// Returns the operations of the block that depend on the cotangents and precede `op`, in program
/// order.
static SmallVector<Operation *> findCotangentDependents(CustomGradientOp op) {
  llvm::DenseSet<Value> reached(op.getCotangents().begin(), op.getCotangents().end());
  SmallVector<Operation *> found;
  for (Operation &each : llvm::make_range(op->getBlock()->begin(), op->getIterator())) {
    llvm::SetVector<Value> used(each.operand_begin(), each.operand_end());
    for (Region &region : each.getRegions())
      getUsedValuesDefinedAbove(region, used);
    if (isa<CotangentOp>(each) || llvm::none_of(used, [&](Value v) { return reached.contains(v); }))
      continue;
    reached.insert(each.result_begin(), each.result_end());
    found.push_back(&each);
  }
  return found;
}

void addCustomGradientRule(GradientRules &rules) {
  // custom_gradient(xs, ys) -> zs with zs = ys in the forward pass. The backward pass clones the
  // operations that compute the operands dxs from the cotangents, and adds each dxs to the gradient
  // of its x.
  rules.add<CustomGradientOp>([](CustomGradientOp op, BackwardPass &g) {
    IRMapping map;
    for (auto [cotangent, result] : llvm::zip_equal(op.getCotangents(), op.getZs())) {
      Expr dz = g.of(result);
      map.map(cotangent, dz ? Value(dz) : Value(zeros(g.build(), cotangent.getType())));
    }
    for (Operation *each : findCotangentDependents(op))
      g.place().clone(*each, map);
    for (auto [x, dx] : llvm::zip_equal(op.getXs(), op.getDxs()))
      g.add(x, [&, dx = dx] { return map.lookupOrDefault(dx); });
  });
}

void eraseCustomGradients(Operation *root) {
  SmallVector<Operation *> erased;
  root->walk([&](CustomGradientOp op) {
    op->replaceAllUsesWith(op.getYs());
    erased.push_back(op);
  });
  for (Operation *op : erased)
    op->erase();
}

} // namespace dlc::grad

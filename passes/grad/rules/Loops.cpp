//===- Loops.cpp - loops that save their states for the backward pass -----===//
#include "passes/grad/rules/Loops.h"

#include "ir/dlc/Shape.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::grad {

LoopOp stackLoopStates(LoopOp op, int64_t trips, OpBuilder &here) {
  SmallVector<Type> types(op->getResultTypes());
  for (Value state : op.getBody().getArguments().drop_front()) {
    SmallVector<int64_t> shape{trips};
    llvm::append_range(shape, shapeOf(state));
    types.push_back(
        makeTensorType(shape, typeOf(state).getElementType(), deviceOf(state.getType())));
  }
  auto kept = LoopOp::create(here, op.getLoc(), types, op.getTrip(), Value(), op.getInits());
  kept->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping map;
  op.getBody().cloneInto(&kept.getBody(), map);
  Block &body = kept.getBody().front();
  auto yield = llvm::cast<YieldOp>(body.getTerminator());
  yield.getValuesMutable().append(ValueRange(body.getArguments().drop_front()));
  return kept;
}

LoopOp dropUnusedLoopResults(LoopOp op, unsigned first) {
  OpBuilder here(op);
  auto yield = llvm::cast<YieldOp>(op.getBody().front().getTerminator());
  SmallVector<Value> results, values;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (i < first || !result.use_empty()) {
      results.push_back(result);
      values.push_back(yield.getValues()[i]);
    }
  yield.getValuesMutable().assign(values);
  auto less = LoopOp::create(here, op.getLoc(), ValueRange(results).getTypes(), op.getTrip(),
                             Value(), op.getInits());
  less->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  less.getBody().takeBody(op.getBody());
  for (auto [before, after] : llvm::zip(results, less->getResults()))
    before.replaceAllUsesWith(after);
  op->erase();
  return less;
}

} // namespace dlc::grad

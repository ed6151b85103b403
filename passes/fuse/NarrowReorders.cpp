//===- NarrowReorders.cpp - reorders of what was 8 bits before -------------===//
//
//   reorder(cast(x))      ->  cast(reorder(x))
//   reorder(sub(y, zero)) ->  sub(reorder(y), zero)
//
// and likewise views of these.
//
// A contraction in i32 takes in what makes its operands of 8 bits (Contractions.cpp), and a reorder
// in between would be in the way; of 8 bits it is also a quarter of the work.
//
//===----------------------------------------------------------------------===//
#include "passes/Widened.h"
#include "passes/fuse/FuseSteps.h"

using namespace mlir;

namespace dlc {

void reorderNarrow(Block &block) {
  SmallVector<Operation *> moves;
  for (Operation &op : block)
    if (isa<ReorderOp, TransposedViewOp>(op))
      moves.push_back(&op);
  for (Operation *move : moves) {
    std::optional<Widened> widened = matchWidened(move->getOpOperand(0));
    if (!widened)
      continue;
    OpBuilder builder(move);
    RankedTensorType laid = typeOf(move->getResult(0));
    auto follows = [&](Operation *op, Value operand, Value of) {
      Operation *copy = builder.clone(*op);
      copy->setOperand(0, operand);
      copy->getResult(0).setType(
          RankedTensorType::get(laid.getShape(), typeOf(of).getElementType(), laid.getEncoding()));
      return copy->getResult(0);
    };
    Value value = follows(move, widened->x, widened->x);
    for (Operation *op : llvm::reverse(widened->ops))
      value = follows(op, value, op->getResult(0));
    move->getResult(0).replaceAllUsesWith(value);
    move->erase();
  }
}

} // namespace dlc

//===- NarrowReorders.cpp - reorders of what was 8 bits before -------------===//
//
//   reorder(cast(x))      ->  cast(reorder(x))
//   reorder(sub(y, zero)) ->  sub(reorder(y), zero)
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
  SmallVector<ReorderOp> reorders(block.getOps<ReorderOp>());
  for (ReorderOp reorder : reorders) {
    std::optional<Widened> widened = matchWidened(reorder->getOpOperand(0));
    if (!widened)
      continue;
    OpBuilder builder(reorder);
    auto laid = [&](Value value) {
      return RankedTensorType::get(shapeOf(value), typeOf(value).getElementType(),
                                   typeOf(reorder.getResult()).getEncoding());
    };
    Value value =
        ReorderOp::create(builder, reorder.getLoc(), laid(widened->x), widened->x).getResult();
    for (Operation *op : llvm::reverse(widened->ops)) {
      Operation *copy = builder.clone(*op);
      copy->setOperand(0, value);
      copy->getResult(0).setType(laid(op->getResult(0)));
      value = copy->getResult(0);
    }
    reorder.getResult().replaceAllUsesWith(value);
    reorder.erase();
  }
}

} // namespace dlc

//===- NarrowReorders.cpp - reorders of what was 8 bits before -------------===//
//
//   reorder(cast(x))      ->  cast(reorder(x))
//   reorder(sub(y, zero)) ->  sub(reorder(y), zero)
//
// and likewise views of these; of a product's operands those that no library reads by strides, as
// the heads of attention that lie side by side again.
//
// A contraction in i32 takes in what makes its operands of 8 bits (Contractions.cpp), and a reorder
// in between would be in the way; of 8 bits it is also a quarter of the work.
//
//===----------------------------------------------------------------------===//
#include "passes/Devices.h"
#include "passes/Widened.h"
#include "passes/fuse/Epilogue.h"
#include "passes/fuse/FuseSteps.h"

using namespace mlir;

namespace dlc {

/// Puts what widens after the move, where that is right behind it.
static bool moveNarrow(Operation *move) {
  std::optional<Widened> widened = matchWidened(move->getOpOperand(0));
  if (!widened)
    return false;
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
  for (Operation *op : llvm::reverse(widened->ops)) {
    value = follows(op, value, op->getResult(0));
    // A zero point of as many dimensions as there were would add some.
    if (auto sub = value.getDefiningOp<SubOp>();
        sub && typeOf(sub.getB()).getRank() > laid.getRank()) {
      builder.setInsertionPoint(sub);
      sub.getBMutable().assign(TensorBuilder(builder, sub.getLoc()).reshape(sub.getB(), {}));
      builder.setInsertionPoint(move);
    }
  }
  move->getResult(0).replaceAllUsesWith(value);
  move->erase();
  return true;
}

/// The views between a product's operand and what widens it, outwards; none where libraries on
/// processors read through these.
static SmallVector<Operation *> viewsInTheWay(OpOperand &operand, bool isTransposed) {
  SmallVector<Operation *> views;
  bool isGpu = can(deviceOf(operand.get().getType()), DLC_DEVICE_GPU_CODE);
  if (!isInt32(operand.get().getType()) || (!isGpu && matrixView(operand.get(), isTransposed)))
    return views;
  Block *block = operand.getOwner()->getBlock();
  Value value = operand.get();
  for (Operation *op = value.getDefiningOp();
       op && op->getBlock() == block && op->hasTrait<ViewLike>() && op->getNumOperands() == 1;
       op = value.getDefiningOp()) {
    views.push_back(op);
    value = op->getOperand(0);
  }
  return views;
}

void reorderNarrow(Block &block) {
  SmallVector<Operation *> moves;
  SmallVector<MatmulOp> products;
  for (Operation &op : block)
    if (isa<ReorderOp, TransposedViewOp>(op))
      moves.push_back(&op);
    else if (auto product = dyn_cast<MatmulOp>(op))
      products.push_back(product);
  for (Operation *move : moves)
    moveNarrow(move);
  for (MatmulOp product : products)
    for (auto [operand, isTransposed] :
         {std::pair(&product.getAMutable(), product.getTransposeA()),
          std::pair(&product.getBMutable(), product.getTransposeB())})
      for (Operation *view : llvm::reverse(viewsInTheWay(*operand, isTransposed)))
        if (!moveNarrow(view))
          break;
}

} // namespace dlc

//===- NarrowReorders.cpp - moves reorders before the extension of 8-bit integers ----===//
//
//   reorder(cast(x))      ->  cast(reorder(x))
//   reorder(sub(y, zero)) ->  sub(reorder(y), zero)
//
// Views are moved in the same way. For the operands of a matmul, these are the views that no
// library can read by strides, such as those that merge the heads of attention.
//
// A contraction in i32 is fused with the extension of its operands from 8 bits (Contractions.cpp),
// which a reorder in between would prevent. Reordering 8-bit values also moves a quarter of the
// bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/Devices.h"
#include "passes/Widened.h"
#include "passes/fuse/Epilogue.h"
#include "passes/fuse/FuseSteps.h"

using namespace mlir;

namespace dlc {

/// Moves a reorder or view before the extension to i32, if it directly follows the extension.
/// Returns whether it was moved.
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
    // A zero point with more dimensions than the new value would add dimensions to it.
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

/// The views between a matmul's operand and its extension to i32, from the matmul outwards. Empty
/// if libraries on processors can read through these views by strides.
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

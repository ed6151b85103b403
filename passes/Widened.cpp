//===- Widened.cpp - 8-bit integer operands of i32 contractions -----------===//
#include "passes/Widened.h"

using namespace mlir;

namespace dlc {

bool isInt32(Type tensor) { return cast<RankedTensorType>(tensor).getElementType().isInteger(32); }

bool isInt8(Type tensor) { return cast<RankedTensorType>(tensor).getElementType().isInteger(8); }

bool waitsForWeights(MatmulOp product, int64_t mostRows) {
  constexpr int64_t kFewest = 4096;
  auto weights = typeOf(product.getB());
  return weights.hasStaticShape() && weights.getNumElements() >= kFewest &&
         typeOf(product.getY()).getShape().drop_back().back() <= mostRows;
}

std::optional<Widened> matchWidened(Value value, llvm::function_ref<bool(Operation *)> isInside) {
  auto inside = [&](Operation *op) { return !isInside || isInside(op); };
  Widened found;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    if (!inside(sub) || !isInt32(value.getType()) || typeOf(sub.getB()).getNumElements() != 1 ||
        shapeOf(sub.getA()) != shapeOf(value))
      return std::nullopt;
    found.zeroPoint = sub.getB();
    found.ops.push_back(sub);
    value = sub.getA();
  }
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || !inside(cast) || !isInt32(value.getType()) || !isInt8(cast.getX().getType()))
    return std::nullopt;
  found.x = cast.getX();
  found.ops.push_back(cast);
  return found;
}

std::optional<Widened> matchWidened(OpOperand &operand) {
  Block *block = operand.getOwner()->getBlock();
  return matchWidened(operand.get(), [&](Operation *op) { return op->getBlock() == block; });
}

std::optional<Widened> matchWidenedBehindViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<ViewLike>() || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return matchWidened(value);
}

bool areWithin(const ref::Tensor &integers, int64_t low, int64_t high) {
  return llvm::all_of(llvm::seq<int64_t>(0, integers.size()), [&](int64_t i) {
    return integers.getInt(i) >= low && integers.getInt(i) <= high;
  });
}

bool isZeroPoint(Value zero, FusionOp fusion) {
  if (!zero)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(zero))
    return fusion && isZeroPoint(fusion.getInputs()[argument.getArgNumber()]);
  Operation *op = zero.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto tensor = ref::Tensor::fromAttr(constant.getValue());
    return succeeded(tensor) && isInt32(zero.getType()) && areWithin(*tensor, -128, 255);
  }
  if (auto made = dyn_cast<FusionOp>(op)) {
    auto yield = cast<YieldOp>(made.getBody().front().getTerminator());
    return isZeroPoint(yield.getOperand(cast<OpResult>(zero).getResultNumber()), made);
  }
  if (auto cast = dyn_cast<CastOp>(op))
    return isInt8(cast.getX().getType());
  return op->hasTrait<ViewLike>() && op->getNumOperands() == 1 &&
         isZeroPoint(op->getOperand(0), fusion);
}

} // namespace dlc

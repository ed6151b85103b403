//===- Widened.cpp - integers of 8 bits, made wider and centred ------------===//
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

} // namespace dlc

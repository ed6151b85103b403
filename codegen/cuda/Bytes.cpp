//===- Bytes.cpp - contractions of 8-bit integers for tensor cores --------===//
#include "codegen/cuda/Bytes.h"

#include "passes/Widened.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// Returns whether the number is representable in the element type of `x`.
bool isElementOf(Value number, Value x) {
  Operation *op = number.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, BroadcastOp>(op))
    return isElementOf(op->getOperand(0), x);
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return typeOf(cast.getX()).getElementType() == typeOf(x).getElementType();
  auto splat = splatValue(number);
  double least = typeOf(x).getElementType().isUnsignedInteger() ? 0 : -128;
  return splat && *splat >= least && *splat <= least + 255;
}

bool hasPadding(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  auto isZero = [](int64_t n) { return n == 0; };
  return conv && !(llvm::all_of(conv.getLow(), isZero) && llvm::all_of(conv.getHigh(), isZero));
}

} // namespace

std::optional<ByteOperands> byteOperandsOf(Operation *contraction) {
  if (!isa<MatmulOp, ConvOp>(contraction) || !isInt32(contraction->getResult(0).getType()))
    return std::nullopt;
  ByteOperands operands;
  for (int i : {0, 1}) {
    std::optional<Widened> widened = matchWidened(contraction->getOperand(i));
    if (!widened)
      return std::nullopt;
    bool isCentred = widened->zeroPoint && !isSplatOf(widened->zeroPoint, 0);
    operands[i] = {widened->x, isCentred ? widened->zeroPoint : Value()};
  }
  ByteOperand &image = operands[0];
  image.isPadded = hasPadding(contraction) && image.zeroPoint;
  if (image.isPadded && !isElementOf(image.zeroPoint, image.x))
    return std::nullopt;
  return operands;
}

} // namespace dlc::cuda

//===- Bytes.cpp - contractions of 8-bit integers for tensor cores --------===//
#include "codegen/cuda/contract/Bytes.h"

#include "ir/dlc/Contraction.h"
#include "passes/TensorBuilder.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// Returns whether the constant `number` is representable in the element type of `x`, or has that
/// type.
bool fitsElementType(Value number, Value x) {
  if (typeOf(number).getElementType() == typeOf(x).getElementType())
    return true;
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

std::optional<ByteOperands> matchByteOperands(Operation *contraction) {
  if (!isIntegerContraction(contraction) || !hasSingleZeroPoints(contraction))
    return std::nullopt;
  ByteOperands operands;
  for (unsigned i : {0u, 1u})
    operands[i] = {contraction->getOperand(i), zeroPointOf(contraction, i)};
  ByteOperand &image = operands[0];
  image.isPadded = hasPadding(contraction) && image.zeroPoint;
  if (image.isPadded && !fitsElementType(image.zeroPoint, image.x))
    return std::nullopt;
  return operands;
}

} // namespace dlc::cuda

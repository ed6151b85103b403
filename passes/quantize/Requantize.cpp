//===- Requantize.cpp - quantizations of dequantized values ---------------===//
//
//   quantize(move(dequantize x, s, z), s, z)        ->  move(x)
//   dequantize(move(quantize y, r, u of 16 bits), s, z)  ->  (move(round(y / r) + u) - z) * s
//
// Files have the first form around operations that only move elements. `move` stands for reshapes
// and transposes.
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Requantize.h"

#include "ir/dlc/Infer.h"
#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"
#include "passes/quantize/Expand.h"

#include <cmath>

using namespace mlir;

namespace dlc::quantize {
namespace {

/// A value, and the reshapes and transposes that are applied to it, the last one first.
struct MovedValue {
  Value value;
  SmallVector<Operation *> moves;
};

MovedValue stripMoves(Value value) {
  MovedValue found{value, {}};
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(found.value.getDefiningOp())) {
    found.moves.push_back(found.value.getDefiningOp());
    found.value = found.moves.back()->getOperand(0);
  }
  return found;
}

/// Applies the reshapes and transposes in `moves` to another value of the same shape.
Value applyMoves(ArrayRef<Operation *> moves, Value value, OpBuilder &builder) {
  for (Operation *move : llvm::reverse(moves)) {
    Operation *copy = builder.clone(*move);
    copy->setOperand(0, value);
    copy->getResult(0).setType(typeOf(copy->getResult(0)).clone(typeOf(value).getElementType()));
    value = copy->getResult(0);
  }
  return value;
}

bool isF32(Value value) { return typeOf(value).getElementType().isF32(); }

std::optional<double> getZeroPointValue(Value zeroPoint) {
  return zeroPoint ? splatValue(zeroPoint) : std::optional<double>(0);
}

/// Returns whether quantizing dequantized values to their original type returns the original
/// quantized values. The scale and zero point must be the same. In f32, x * scale / scale rounds to
/// the same integer of up to 17 bits if the scale is neither subnormal nor huge.
bool isInverse(QuantizeOp quantize, DequantizeOp dequantize) {
  constexpr double kTiny = 1e-30;
  auto type = cast<IntegerType>(typeOf(dequantize.getX()).getElementType());
  if (type != quantize.getTo() || type.getWidth() > 16 || !isF32(dequantize.getY()) ||
      !isF32(dequantize.getScale()) || !isF32(quantize.getScale()))
    return false;
  auto [low, high] = integerRange(type);
  if (int64_t(quantize.getLow().value_or(uint64_t(low))) > low ||
      int64_t(quantize.getHigh().value_or(uint64_t(high))) < high)
    return false;
  auto scale = splatValue(dequantize.getScale()), again = splatValue(quantize.getScale()),
       zero = getZeroPointValue(dequantize.getZeroPoint()),
       zeroAgain = getZeroPointValue(quantize.getZeroPoint());
  return scale && scale == again && std::abs(*scale) > kTiny && std::abs(*scale) < 1 / kTiny &&
         zero && zero == zeroAgain && *zero == std::trunc(*zero);
}

void removeIfRoundTrip(QuantizeOp op) {
  MovedValue x = stripMoves(op.getX());
  auto dequantize = x.value.getDefiningOp<DequantizeOp>();
  if (!dequantize || !isInverse(op, dequantize) ||
      (!x.moves.empty() && ref::isPackedElement(typeOf(dequantize.getX()).getElementType())))
    return;
  OpBuilder builder(op);
  op.getY().replaceAllUsesWith(applyMoves(x.moves, dequantize.getX(), builder));
  op.erase();
}

void replaceInt16RoundTrip(DequantizeOp op) {
  constexpr double kExact = 1 << 20;
  MovedValue x = stripMoves(op.getX());
  auto quantize = x.value.getDefiningOp<QuantizeOp>();
  auto zero = getZeroPointValue(op.getZeroPoint());
  if (!quantize || cast<IntegerType>(quantize.getTo()).getWidth() != 16 ||
      !isF32(quantize.getX()) || !isF32(op.getScale()) || op.getBlockSize() || !zero ||
      std::abs(*zero) > kExact)
    return;
  OpBuilder builder(op);
  Value y = roundedValues(quantize);
  y = applyMoves(x.moves, y, builder);
  TensorBuilder b(builder, op.getLoc());
  if (*zero != 0)
    y = b.make<SubOp>(y, b.scalar(*zero, y));
  op.getY().replaceAllUsesWith(b.make<MulOp>(y, op.getScale()));
  op.erase();
}

} // namespace

void simplifyRequantization(ModuleOp module) {
  SmallVector<QuantizeOp> quantizations;
  SmallVector<DequantizeOp> dequantizations;
  module.walk([&](QuantizeOp op) { quantizations.push_back(op); });
  for (QuantizeOp op : quantizations)
    removeIfRoundTrip(op);
  module.walk([&](DequantizeOp op) { dequantizations.push_back(op); });
  for (DequantizeOp op : dequantizations)
    replaceInt16RoundTrip(op);
}

} // namespace dlc::quantize

//===- IntegerOperands.cpp - operands of contractions of integers ----------===//
#include "passes/quantize/IntegerOperands.h"

#include "ir/dlc/Contraction.h"
#include "ir/dlc/Infer.h"
#include "passes/quantize/Expand.h"
#include "passes/simplify/Constants.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace dlc::quantize {

/// Returns the range of a value's integers: that of its type if it has at most 8 bits, that of the
/// operand of a cast, or that of a constant's elements. Returns nullopt for other values.
static std::optional<std::pair<int64_t, int64_t>> getIntegerRange(Value value) {
  auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
  if (type && type.getWidth() <= 8)
    return integerRange(type);
  if (auto cast = value.getDefiningOp<CastOp>())
    return isa<IntegerType>(typeOf(cast.getX()).getElementType()) ? getIntegerRange(cast.getX())
                                                                  : std::nullopt;
  auto tensor = isComputedFromConstants(value) ? evaluateConstant(value) : std::nullopt;
  if (!tensor || !type || tensor->size() == 0)
    return std::nullopt;
  std::pair range(tensor->getInt(0), tensor->getInt(0));
  for (int64_t i = 0; i < tensor->size(); ++i)
    range = {std::min(range.first, tensor->getInt(i)), std::max(range.second, tensor->getInt(i))};
  return range;
}

bool isInt8ZeroPoint(Value zero) {
  auto range = getIntegerRange(zero);
  return range && range->first >= -128 && range->second <= 255;
}

std::optional<double> getMagnitudeBound(const IntegerOperand &of) {
  auto x = getIntegerRange(of.x),
       zero = of.zeroPoint ? getIntegerRange(of.zeroPoint) : std::pair<int64_t, int64_t>();
  if (!x || !zero)
    return std::nullopt;
  return double(std::max<int64_t>({zero->second - x->first, x->second - zero->first, 1}));
}

std::optional<ref::Tensor> narrowToInt8(const ref::Tensor &integers) {
  auto type = integers.getType();
  auto narrow = ref::Tensor::empty(type.clone(IntegerType::get(type.getContext(), 8)));
  for (int64_t i = 0; i < integers.size(); ++i) {
    if (integers.getInt(i) < -128 || integers.getInt(i) > 127)
      return std::nullopt;
    narrow.setInt(i, integers.getInt(i));
  }
  return narrow;
}

IntegerOperand getIntegerOperand(Operation *op, unsigned operand) {
  return {op->getOperand(operand), zeroPointOf(op, operand)};
}

Value subtractZeroPoint(OpBuilder &builder, Operation *op, unsigned operand) {
  IntegerOperand of = getIntegerOperand(op, operand);
  if (of.zeroPoint && isa<ConvOp>(op) && typeOf(of.zeroPoint).getRank() == 1) {
    SmallVector<int64_t> shape(typeOf(of.x).getRank(), 1);
    shape[0] = shapeOf(of.zeroPoint)[0];
    of.zeroPoint = TensorBuilder(builder, op->getLoc()).reshape(of.zeroPoint, shape);
  }
  return subtractZeroPoint(builder, op->getLoc(), of.x, of.zeroPoint);
}

int64_t channelAxis(Operation *op) {
  auto product = dyn_cast<MatmulOp>(op);
  const int64_t rank = typeOf(op->getOperand(1)).getRank();
  return !product ? 0 : product.getTransposeB() ? rank - 2 : rank - 1;
}

SmallVector<int64_t> channelShape(Operation *op) {
  auto type = typeOf(op->getResult(0));
  if (isa<MatmulOp>(op))
    return {type.getShape().back()};
  SmallVector<int64_t> shape(type.getRank() - 1, 1);
  shape[0] = type.getDimSize(1);
  return shape;
}

bool hasExactF32Sums(ConvOp conv) {
  auto most = getMagnitudeBound(getIntegerOperand(conv, 0));
  return most &&
         *most * double(ShapedType::getNumElements(shapeOf(conv.getW()).drop_front())) < kExact;
}

std::optional<Int8Weights> convertToInt8Weights(OpBuilder &builder, Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  auto wide = evaluateConstant(subtractZeroPoint(builder, op, 1));
  if (!wide)
    return std::nullopt;
  const bool isLast = channelAxis(op) == wide->getRank() - 1;
  ArrayRef<int64_t> shape = wide->getShape();
  const int64_t channels = shape[channelAxis(op)], inner = isLast ? 1
                                                           : conv ? wide->size() / channels
                                                                  : shape.back();
  // Minimum and maximum weight of each output channel.
  std::vector<std::pair<int64_t, int64_t>> ranges(
      channels, {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()});
  auto channelOf = [&](int64_t i) { return i / inner % channels; };
  for (int64_t i = 0; i < wide->size(); ++i) {
    auto &[low, high] = ranges[channelOf(i)];
    low = std::min(low, wide->getInt(i)), high = std::max(high, wide->getInt(i));
  }
  int64_t least = 0, most = 0;
  for (auto [low, high] : ranges)
    least = std::min(least, low), most = std::max(most, high);
  auto fits = [](int64_t low, int64_t high) { return low >= -128 && high <= 127; };
  Int8Weights weights{
      ref::Tensor::empty(RankedTensorType::get(shape, builder.getIntegerType(8))), 0, {}};
  std::vector<int64_t> shifts(channels, 0);
  // Libraries support one weight zero point for all channels of a matmul, and none of a
  // convolution.
  if (!conv && most - least <= 255) {
    weights.zeroPoint = -std::clamp<int64_t>(0, most - 127, least + 128);
    std::fill(shifts.begin(), shifts.end(), -weights.zeroPoint);
  } else if (!fits(least, most)) {
    if (conv ? conv.getGroups() != 1 || !hasExactF32Sums(conv) : shape.size() != 2)
      return std::nullopt;
    auto each = ref::Tensor::empty(RankedTensorType::get(channelShape(op), builder.getI32Type()));
    for (auto [c, range] : llvm::enumerate(ranges)) {
      shifts[c] = fits(range.first, range.second) ? 0 : range.first + 128;
      if (range.second - shifts[c] > 127)
        return std::nullopt;
      each.setInt(c, shifts[c]);
    }
    weights.shifts = each;
  }
  for (int64_t i = 0; i < wide->size(); ++i)
    weights.numbers.setInt(i, wide->getInt(i) - shifts[channelOf(i)]);
  return weights;
}

} // namespace dlc::quantize

//===- Quantize.cpp - reference evaluation of quantization ----------------===//
#include "ir/dlc/Infer.h"
#include "ir/reference/Rows.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Returns, for each element of x, the index of its scale (or zero point) in the scale's tensor.
template <typename Op>
static std::vector<int64_t> computeScaleIndices(Op op, const Tensor &x, const Tensor &scale) {
  std::vector<int64_t> indices;
  auto block = op.getBlockSize();
  // Row-major strides of the scales, with stride 0 in dimensions of size 1, which broadcast.
  std::vector<int64_t> strides(x.getRank(), 0);
  if (scale.getRank())
    strides = rowMajorStrides(scale.getShape());
  for (auto [stride, size] : llvm::zip(strides, scale.getShape()))
    if (size == 1)
      stride = 0;
  indices.reserve(x.size());
  forEachIndex(x.getShape(), [&](const std::vector<int64_t> &at) {
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d)
      index += (block && d == *op.getAxis() ? at[d] / int64_t(*block) : at[d]) * strides[d];
    indices.push_back(index);
  });
  return indices;
}

/// Rounds a double to a floating-point element type, and returns it as a double.
static double roundToElement(double value, Element element) {
  return dispatchStorageType(
      element, [&](auto zero) { return convert<double>(convert<decltype(zero)>(value)); });
}

LogicalResult QuantizeOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &scale = inputs[1];
  const Tensor *zero = getZeroPoint() ? &inputs[2] : nullptr;
  auto integer = cast<IntegerType>(getTo());
  Tensor y = makeResult(getY(), x.getShape(), integer);
  const std::vector<int64_t> scales = computeScaleIndices(*this, x, scale),
                             zeros = zero ? computeScaleIndices(*this, x, *zero)
                                          : std::vector<int64_t>();
  auto [least, most] = integerRange(integer);
  const auto low = double(int64_t(getLow().value_or(uint64_t(least)))),
             high = double(int64_t(getHigh().value_or(uint64_t(most))));
  const Element wide = x.getElement() == Element::F64 ? Element::F64 : Element::F32;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double s = scale.getDouble(scales[i]);
    double v = getReciprocal() ? x.getDouble(i) *
                                     roundToElement(roundToElement(1 / s, scale.getElement()), wide)
                               : x.getDouble(i) / roundToElement(s, wide);
    v = roundToElement(v, wide);
    const double z = zero ? roundToElement(zero->getDouble(zeros[i]), wide) : 0;
    v = getZeroPointFirst() ? std::nearbyint(roundToElement(v + z, wide))
                            : roundToElement(std::nearbyint(v) + z, wide);
    y.setDouble(i, std::isnan(v) ? 0 : std::clamp(v, low, high));
  }
  outputs.push_back(y);
  return success();
}

LogicalResult DequantizeOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &scale = inputs[1];
  const Tensor *zero = getZeroPoint() ? &inputs[2] : nullptr;
  const Element element = scale.getElement();
  Tensor y = makeResult(getY(), x.getShape(), scale.getElementType());
  const std::vector<int64_t> scales = computeScaleIndices(*this, x, scale),
                             zeros = zero ? computeScaleIndices(*this, x, *zero)
                                          : std::vector<int64_t>();
  const bool isFloatZero = zero && zero->isFloat();
  for (int64_t i = 0; i < x.size(); ++i) {
    double v = 0;
    if (isFloatZero)
      v = roundToElement(x.getDouble(i), element) - zero->getDouble(zeros[i]);
    else
      v = double(int32_t(uint32_t(x.getInt(i)) - uint32_t(zero ? zero->getInt(zeros[i]) : 0)));
    y.setDouble(i, roundToElement(v, element) * scale.getDouble(scales[i]));
  }
  outputs.push_back(y);
  return success();
}

LogicalResult DynamicQuantizeOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const Element element = x.getElement();
  Shape each;
  if (auto axes = getAxes()) {
    each = Shape(x.getShape());
    for (int64_t axis : *axes)
      each[axis] = 1;
  }
  Tensor y = makeResult(getY(), x.getShape(),
                        cast<RankedTensorType>(getY().getType()).getElementType()),
         scale = makeResult(getScale(), each, x.getElementType()),
         zero = makeResult(getZeroPoint(), each, y.getElementType());
  std::vector<int64_t> strides(x.getRank(), 0), index;
  if (!each.empty())
    strides = broadcastStrides(each, x.getShape());
  forEachIndex(x.getShape(), [&](const std::vector<int64_t> &at) {
    int64_t to = 0;
    for (size_t d = 0; d < at.size(); ++d)
      to += at[d] * strides[d];
    index.push_back(to);
  });
  std::vector<double> low(scale.size(), 0), high(scale.size(), 0), safe(scale.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    low[index[i]] = minOf(low[index[i]], x.getDouble(i));
    high[index[i]] = maxOf(high[index[i]], x.getDouble(i));
  }
  for (int64_t i = 0; i < scale.size(); ++i) {
    scale.setDouble(i, roundToElement(roundToElement(high[i] - low[i], element) / 255.0, element));
    safe[i] = scale.getDouble(i) == 0 ? 1 : scale.getDouble(i);
    const double least = roundToElement(0 - roundToElement(low[i] / safe[i], element), element);
    zero.setDouble(i, std::nearbyint(std::isnan(least) ? least : std::clamp(least, 0.0, 255.0)));
  }
  const Element wide = element == Element::F64 ? Element::F64 : Element::F32;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double v = std::nearbyint(roundToElement(x.getDouble(i) / safe[index[i]], wide)) +
                     zero.getDouble(index[i]);
    y.setDouble(i, std::isnan(v) ? 0 : std::clamp(v, 0.0, 255.0));
  }
  outputs.push_back(y);
  outputs.push_back(scale);
  outputs.push_back(zero);
  return success();
}

} // namespace dlc

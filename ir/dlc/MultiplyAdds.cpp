//===- MultiplyAdds.cpp - numbers of multiply-adds of operations ----------===//
#include "ir/dlc/Dialect.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

double countElements(Value value) {
  double count = 1;
  for (int64_t dim : cast<RankedTensorType>(value.getType()).getShape())
    count *= ShapedType::isDynamic(dim) ? 1 : double(dim);
  return count;
}

/// Returns the size of a dimension, or 1 if it is dynamic. A negative `dim` counts from the end.
double getSize(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t at = dim < 0 ? type.getRank() + dim : dim;
  if (at < 0 || at >= type.getRank() || type.isDynamicDim(unsigned(at)))
    return 1;
  return double(type.getDimSize(at));
}

/// Returns the multiply-adds of a convolution, which multiplies each element of `image` by every
/// weight of its channel.
double countConvolution(Value image, Value weights) {
  return countElements(image) * countElements(weights) / std::max(1.0, getSize(weights, 0));
}

/// Returns the multiply-adds of `matmuls` products of the size of the scores times v.
double countAttention(int matmuls, Value y, Value k) {
  return matmuls * countElements(y) * getSize(k, -2);
}

/// Returns the multiply-adds of a recurrent layer, which multiplies each row of x, and the hidden
/// state of each row, by weights.
double countRecurrent(Value x, Value w, Value r) {
  return getSize(x, 0) * getSize(x, 1) * (countElements(w) + countElements(r));
}

} // namespace

double MatmulOp::countMultiplyAdds() {
  return countElements(getY()) * getSize(getA(), getTransposeA() ? -2 : -1);
}

double GroupedMatmulOp::countMultiplyAdds() { return countElements(getY()) * getSize(getA(), -1); }

double GroupedWeightGradOp::countMultiplyAdds() {
  return countElements(getDy()) * getSize(getA(), -1);
}

double ConvOp::countMultiplyAdds() { return countConvolution(getY(), getW()); }
double ConvTransposeOp::countMultiplyAdds() { return countConvolution(getX(), getW()); }
double ConvWeightGradOp::countMultiplyAdds() { return countConvolution(getDy(), getDw()); }

double AttentionOp::countMultiplyAdds() { return countAttention(2, getY(), getK()); }
double AttentionTrainOp::countMultiplyAdds() { return countAttention(2, getY(), getK()); }
// The gradient computes the scores again, and has four matmuls for the gradients.
double AttentionGradOp::countMultiplyAdds() { return countAttention(5, getY(), getK()); }

double LstmOp::countMultiplyAdds() { return countRecurrent(getX(), getW(), getR()); }
double GruOp::countMultiplyAdds() { return countRecurrent(getX(), getW(), getR()); }
double RnnOp::countMultiplyAdds() { return countRecurrent(getX(), getW(), getR()); }

} // namespace dlc

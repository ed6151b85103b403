//===- TensorBuilder.cpp - concise construction of dlc operations in passes ----===//
#include "passes/TensorBuilder.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace dlc {

OnAttr deviceOf(Type type) {
  OnAttr on = getPlace(type);
  return on && !on.getLayout().empty() ? on.withLayout("") : on;
}

Value TensorBuilder::scalar(double value, Value like) {
  Type element = typeOf(like).getElementType();
  Attribute attr;
  if (auto floating = dyn_cast<FloatType>(element)) {
    attr = builder.getFloatAttr(floating, value);
  } else {
    auto integer = llvm::cast<IntegerType>(element);
    attr = builder.getIntegerAttr(integer, static_cast<int64_t>(value));
  }
  auto type = RankedTensorType::get({}, element, deviceOf(like.getType()));
  return make<ConstantOp>(llvm::cast<ElementsAttr>(DenseElementsAttr::get(type, attr)));
}

Value TensorBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(x);
  if (type.getShape() == shape)
    return x;
  return make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType(), deviceOf(type)), x);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(x);
  if (type.getShape() == shape)
    return x;
  return make<BroadcastOp>(RankedTensorType::get(shape, type.getElementType(), deviceOf(type)), x);
}

Value TensorBuilder::cast(Value x, Type element) {
  return typeOf(x).getElementType() == element ? x : make<CastOp>(x, element);
}

Value TensorBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes) {
  return make<ReduceOp>(kind, x, axes, /*keepdims=*/true);
}

std::optional<double> splatValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    if (!dense.isSplat())
      return std::nullopt;
    if (auto floating = dyn_cast<FloatType>(type.getElementType())) {
      APFloat wide = dense.getSplatValue<APFloat>();
      bool lost;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      return wide.convertToDouble();
    }
    APInt integer = dense.getSplatValue<APInt>();
    bool isSigned = !type.getElementType().isUnsignedInteger() && integer.getBitWidth() > 1;
    return isSigned ? double(integer.getSExtValue()) : double(integer.getZExtValue());
  }
  // Constants that refer to a blob (weights) are read only if they have a single element.
  if (!type.hasStaticShape() || type.getNumElements() != 1)
    return std::nullopt;
  auto tensor = ref::Tensor::fromAttr(constant.getValue());
  if (failed(tensor))
    return std::nullopt;
  return tensor->isFloat() ? tensor->getDouble(0) : double(tensor->getInt(0));
}

bool isSplatWithValue(Value value, double expected) {
  std::optional<double> found = splatValue(value);
  if (!found)
    return false;
  if (*found == expected)
    return true;
  // The comparison rounds `expected` to the element type and to narrower types, because constants
  // such as 1/sqrt(2) may be rounded to the element type, or to a narrower type of the original
  // model.
  auto floating = dyn_cast<FloatType>(typeOf(value).getElementType());
  if (!floating)
    return false;
  double tolerance = std::ldexp(2.0, -static_cast<int>(floating.getFPMantissaWidth()));
  return std::fabs(*found - expected) <= std::max(tolerance, 1e-6) * std::fabs(expected);
}

} // namespace dlc

//===- Constants.cpp - reads and creates constants in rewrite patterns ----===//
#include "passes/simplify/Constants.h"

#include "ir/dlc/Shape.h"
#include "ir/reference/Evaluate.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace dlc {

std::optional<ref::Tensor> constantTensor(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || !typeOf(value).hasStaticShape())
    return std::nullopt;
  return ref::Tensor::fromAttr(constant.getValue());
}

bool isComputedFromConstants(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 &&
         (isa<ConstantOp>(op) ||
          (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), isComputedFromConstants)));
}

std::optional<ref::Tensor> evaluateConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ConstantOp>(op))
    return constantTensor(value);
  SmallVector<ref::Tensor> inputs, outputs;
  for (Value operand : op->getOperands()) {
    std::optional<ref::Tensor> input = evaluateConstant(operand);
    if (!input)
      return std::nullopt;
    inputs.push_back(std::move(*input));
  }
  auto outer = [](Value) { return ref::Tensor(); };
  if (failed(ref::evaluateOp(op, inputs, outer, outputs)) || outputs.size() != 1)
    return std::nullopt;
  return outputs.front();
}

ElementsAttr constantAttr(const ref::Tensor &tensor, RankedTensorType type) {
  auto retyped = [&](ElementsAttr attr) -> ElementsAttr {
    if (attr.getShapedType() == type)
      return attr;
    if (auto dense = dyn_cast<DenseElementsAttr>(attr))
      return dense.reshape(type);
    return DenseResourceElementsAttr::get(type,
                                          cast<DenseResourceElementsAttr>(attr).getRawHandle());
  };
  if (ref::isPackedElement(tensor.getElementType()))
    return retyped(tensor.toAttr());
  int64_t bytes = ref::elementBytes(tensor.getElementType());
  bool equal = tensor.size() > 1;
  for (int64_t i = 1; equal && i < tensor.size(); ++i)
    equal = std::memcmp(tensor.data(), tensor.data() + i * bytes, bytes) == 0;
  if (!equal)
    return retyped(tensor.toAttr());
  auto one = makeTensorType({}, tensor.getElementType());
  auto element =
      cast<DenseElementsAttr>(ref::Tensor::borrow(one, tensor.data(), tensor.owner()).toAttr());
  return DenseElementsAttr::get(type, element.getSplatValue<Attribute>());
}

Value makeConstant(OpBuilder &builder, Location loc, const ref::Tensor &tensor,
                   RankedTensorType type) {
  return ConstantOp::create(builder, loc, constantAttr(tensor, type)).getY();
}

std::optional<std::vector<double>> getPerChannelConstant(Value value, int64_t rank,
                                                         int64_t channels) {
  RankedTensorType type = typeOf(value);
  if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape() || type.getRank() > rank)
    return std::nullopt;
  for (auto [d, size] : llvm::enumerate(staticShape(type)))
    if (size != 1 && (int64_t(d) + rank - type.getRank() != 1 || size != channels))
      return std::nullopt;
  if (std::optional<double> splat = splatValue(value))
    return std::vector<double>(channels, *splat);
  std::optional<ref::Tensor> tensor = constantTensor(value);
  if (!tensor || tensor->size() != channels)
    return std::nullopt;
  std::vector<double> elements(channels);
  for (int64_t i = 0; i < channels; ++i)
    elements[i] = tensor->getDouble(i);
  return elements;
}

Value foldToConstant(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  bool isComputedFromConstants =
      op && !isa<ConstantOp>(op) && llvm::all_of(op->getOperands(), [](Value operand) {
        return operand.getDefiningOp<ConstantOp>() != nullptr;
      });
  auto tensor = isComputedFromConstants ? evaluateConstant(value) : std::optional<ref::Tensor>();
  return tensor ? makeConstant(builder, value.getLoc(), *tensor, typeOf(value)) : value;
}

} // namespace dlc

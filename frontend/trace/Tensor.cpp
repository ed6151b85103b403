//===- Tensor.cpp - shape, element type and device of a symbolic tensor ---===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

static RankedTensorType getTensorType(const Tensor &tensor) {
  if (!tensor)
    throw Error(
        "this dlc::trace::Tensor has no value, and so no shape or element type; assign it first");
  if (!State::ownerOf(tensor)->open)
    throw Error("this dlc::trace::Tensor belongs to a trace that has ended; use tensors only "
                "inside the traced function");
  return cast<RankedTensorType>(State::valueOf(tensor).getType());
}

Shape Tensor::shape() const {
  ArrayRef<int64_t> dims = getTensorType(*this).getShape();
  Shape shape(dims.begin(), dims.end());
  std::replace(shape.begin(), shape.end(), ShapedType::kDynamic, kDynamic);
  return shape;
}

int64_t Tensor::dim(int64_t dimension) const {
  Shape dims = shape();
  int64_t rank = static_cast<int64_t>(dims.size());
  if (dimension < -rank || dimension >= rank)
    throw Error("a dimension must be from -" + std::to_string(rank) + " to " +
                std::to_string(rank - 1) + " for the shape " + shapeText(dims) + "; found " +
                std::to_string(dimension));
  return dims[dimension < 0 ? dimension + rank : dimension];
}

DType Tensor::dtype() const { return dtypeOf(getTensorType(*this).getElementType()); }

Operand::Operand(const Parameter &given, Location location)
    : kind(given ? Kind::Parameter : Kind::None), location(location) {
  if (given)
    parameter = std::make_shared<const Parameter>(given);
}

Operands::Operands(const std::vector<Parameter> &parameters, Location location) {
  for (const Parameter &parameter : parameters)
    emplace_back(parameter, location);
}

} // namespace dlc::trace

//===- Shape.cpp - reference evaluation of operations that move elements ---===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <cstring>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Returns the declared result type, which must be static because no operand determines the shape
/// of the result.
static FailureOr<RankedTensorType> getStaticResultType(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return op->emitOpError("needs a static result type to be evaluated, found ")
           << op->getResult(0).getType() << "; specialise the model to the shapes it is run with";
  return type;
}

LogicalResult ConstantOp::evaluate(Inputs inputs, Outputs outputs) {
  FailureOr<Tensor> value = Tensor::fromAttr(getValue());
  if (failed(value))
    return emitOpError("requires dense elements or a resource of exactly the size of ")
           << getY().getType() << "; the file is truncated, or its resources are missing";
  outputs.push_back(*value);
  return success();
}

LogicalResult IotaOp::evaluate(Inputs inputs, Outputs outputs) {
  FailureOr<RankedTensorType> type = getStaticResultType(*this);
  if (failed(type))
    return failure();
  Tensor y = Tensor::empty(*type);
  AxisView view(y.getShape(), getAxis());
  for (int64_t o = 0, at = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.size; ++i) {
      std::vector<int64_t> row(view.inner, i);
      storeRow<int64_t>(y, at, view.inner, row.data());
      at += view.inner;
    }
  outputs.push_back(y);
  return success();
}

LogicalResult ReshapeOp::evaluate(Inputs inputs, Outputs outputs) {
  auto declared = cast<RankedTensorType>(getY().getType());
  // Reshape with one dynamic dimension: its size is derived from the number of elements.
  Shape shape(declared.getShape());
  int64_t known = 1, unknown = 0;
  for (int64_t d : shape)
    ShapedType::isDynamic(d) ? ++unknown : known *= d;
  if (unknown == 1 && known != 0)
    for (int64_t &d : shape)
      if (ShapedType::isDynamic(d))
        d = inputs[0].size() / known;
  if (unknown > 1 || multiplyDims(shape) != inputs[0].size())
    return emitOpError("(C1) needs a result of ")
           << inputs[0].size() << " elements, found " << declared;
  outputs.push_back(inputs[0].withType(
      RankedTensorType::get(shape, declared.getElementType(), declared.getEncoding())));
  return success();
}

static LogicalResult permuted(Value result, ArrayRef<int64_t> permutation, const Tensor &x,
                              Outputs outputs) {
  std::vector<int64_t> from = rowMajorStrides(x.getShape()), strides;
  Shape shape;
  for (int64_t d : permutation) {
    shape.push_back(x.getShape()[d]);
    strides.push_back(from[d]);
  }
  Tensor y = makeResult(result, shape, x.getElementType());
  copyStrided(x, 0, strides, y);
  outputs.push_back(y);
  return success();
}

LogicalResult TransposeOp::evaluate(Inputs inputs, Outputs outputs) {
  return permuted(getY(), getPermutation(), inputs[0], outputs);
}

LogicalResult TransposedViewOp::evaluate(Inputs inputs, Outputs outputs) {
  return permuted(getY(), getPermutation(), inputs[0], outputs);
}

LogicalResult BroadcastOp::evaluate(Inputs inputs, Outputs outputs) {
  FailureOr<RankedTensorType> type = getStaticResultType(*this);
  if (failed(type))
    return failure();
  std::optional<Shape> shape = broadcastShapes({inputs[0].getShape(), type->getShape()});
  if (!shape || ArrayRef<int64_t>(*shape) != type->getShape())
    return emitOpError("(C1) the operand's shape does not broadcast to ") << *type;
  Tensor y = Tensor::empty(*type);
  copyStrided(inputs[0], 0, broadcastStrides(inputs[0].getShape(), y.getShape()), y);
  outputs.push_back(y);
  return success();
}

LogicalResult SliceOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  std::vector<int64_t> strides = rowMajorStrides(x.getShape());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    const int64_t start = getStart()[d], size = getSize()[d], stride = getStride()[d];
    const int64_t last = start + (size - 1) * stride, limit = x.getShape()[d];
    if (size > 0 && (start < 0 || start >= limit || last < 0 || last >= limit))
      return emitOpError("(C2) takes elements ")
             << start << " to " << last << " of dimension " << d << ", which has " << limit;
    offset += start * strides[d];
    strides[d] *= stride;
  }
  Tensor y = makeResult(getY(), getSize(), x.getElementType());
  if (y.size())
    copyStrided(x, offset, strides, y);
  outputs.push_back(y);
  return success();
}

/// Returns the operand index that dlc.pad reads at `i`, a result index minus the leading padding,
/// in a dimension of `size` elements. Returns -1 for the constant padding value.
static int64_t getPadSourceIndex(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size)
    return i;
  switch (mode) {
  case PadMode::constant:
    return -1;
  case PadMode::edge:
    return i < 0 ? 0 : size - 1;
  case PadMode::wrap:
    return (i % size + size) % size;
  case PadMode::reflect:
    break;
  }
  if (size == 1)
    return 0;
  const int64_t period = 2 * (size - 1), r = (i % period + period) % period;
  return r < size ? r : period - r;
}

LogicalResult PadOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const int64_t rank = x.getRank();
  std::vector<int64_t> strides = rowMajorStrides(x.getShape());
  Shape shape;
  // For each dimension and result index: offset of the source element along this dimension, or -1
  // for padding.
  std::vector<std::vector<int64_t>> places(rank);
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = x.getShape()[d], low = getLow()[d];
    shape.push_back(size + low + getHigh()[d]);
    if (shape[d] < 0)
      return emitOpError("(C3) leaves dimension ") << d << " with " << shape[d] << " elements";
    if (size == 0 && shape[d] > 0 && getMode() != PadMode::constant)
      return emitOpError("(C3) has no element with which to pad dimension ") << d;
    for (int64_t i = 0; i < shape[d]; ++i) {
      const int64_t from = getPadSourceIndex(getMode(), i - low, size);
      places[d].push_back(from < 0 ? -1 : from * strides[d]);
    }
  }
  Tensor y = makeResult(getY(), shape, x.getElementType());
  dispatchStorageType(y.getElement(), [&](auto zero) {
    using T = decltype(zero);
    const T *in = reinterpret_cast<const T *>(x.data());
    const T value = *reinterpret_cast<const T *>(inputs[1].data());
    T *result = reinterpret_cast<T *>(y.mutableData());
    if (rank == 0) {
      *result = *in;
      return;
    }
    Shape rows(shape);
    rows.back() = shape.back() ? 1 : 0;
    forEachIndex(rows, [&](const std::vector<int64_t> &index) {
      int64_t base = 0;
      for (int64_t d = 0; d + 1 < rank && base >= 0; ++d)
        base = places[d][index[d]] < 0 ? -1 : base + places[d][index[d]];
      for (int64_t place : places.back())
        *result++ = base < 0 || place < 0 ? value : in[base + place];
    });
  });
  outputs.push_back(y);
  return success();
}

LogicalResult ConcatOp::evaluate(Inputs inputs, Outputs outputs) {
  const int64_t axis = getAxis();
  Shape shape(inputs[0].getShape());
  shape[axis] = 0;
  for (const Tensor &x : inputs) {
    Shape rest(x.getShape());
    shape[axis] += rest[axis];
    rest[axis] = shape[axis];
    if (rest != shape)
      return emitOpError("(C2) operands differ in a dimension other than ") << axis;
  }
  Tensor y = makeResult(getY(), shape, inputs[0].getElementType());
  const int64_t width = elementBytes(y.getElementType());
  const AxisView whole(shape, axis);
  int64_t before = 0;
  for (const Tensor &x : inputs) {
    const AxisView part(x.getShape(), axis);
    const int64_t bytes = part.size * part.inner * width;
    for (int64_t o = 0; o < part.outer && bytes; ++o)
      std::memcpy(y.mutableData() + (o * whole.size + before) * whole.inner * width,
                  x.data() + o * bytes, bytes);
    before += part.size;
  }
  outputs.push_back(y);
  return success();
}

} // namespace dlc

//===- Shape.cpp - constants, and operations that move elements -----------===//
#include "frontend/trace/State.h"

#include <algorithm>

using namespace mlir;

namespace dlc::trace {

namespace {
/// Returns a tensor type of the given shape. Reports an error if a size is dynamic.
RankedTensorType staticType(ApiCall &call, const Shape &shape, Type element) {
  for (int64_t dim : shape)
    if (dim < 0)
      call.fail("sizes must be 0 or more; found ", shapeText(shape));
  return RankedTensorType::get(shape, element);
}

int64_t multiplyDims(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

Value buildReshape(ApiCall &call, Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getShape() == shape)
    return x;
  return call.makeAs<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), x);
}

Value sliced(ApiCall &call, Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> size,
             ArrayRef<int64_t> stride) {
  SliceOp::Adaptor::Properties properties;
  properties.start = call.list(start);
  properties.size = call.list(size);
  properties.stride = call.list(stride);
  return call.make<SliceOp>(x, properties);
}

/// Slices `size` elements of x along one dimension, from index `start` on with the given stride.
Value slicedAlong(ApiCall &call, Value x, int64_t dim, int64_t start, int64_t size,
                  int64_t stride = 1) {
  auto type = cast<RankedTensorType>(x.getType());
  call.requireStatic(type, "to take a part of a tensor");
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  strides[dim] = stride;
  return sliced(call, x, starts, sizes, strides);
}
} // namespace

Tensor full(Shape shape, double value, DType dtype, Location location) {
  ApiCall call("full", location);
  RankedTensorType type = staticType(call, shape, elementTypeOf(dtype, call.context()));
  Value number = call.number(type.getElementType(), value);
  auto dense = cast<DenseElementsAttr>(number.getDefiningOp<ConstantOp>().getValue());
  number.getDefiningOp()->erase();
  type = cast<RankedTensorType>(call.state().placed(type));
  return call.tensor(
      ConstantOp::create(call.builder(), call.loc(), type, dense.resizeSplat(type)).getResult());
}

Tensor zeros(Shape shape, DType dtype, Location location) {
  return full(std::move(shape), 0, dtype, location);
}
Tensor ones(Shape shape, DType dtype, Location location) {
  return full(std::move(shape), 1, dtype, location);
}

Tensor arange(int64_t size, DType dtype, Location location) {
  ApiCall call("arange", location);
  IotaOp::Adaptor::Properties properties;
  properties.axis = call.integer(0);
  return call.tensor(call.makeAs<IotaOp>(
      staticType(call, {size}, elementTypeOf(dtype, call.context())), {}, properties));
}

Tensor constant(Array value, std::string_view name, Location location) {
  ApiCall call("constant", location);
  staticType(call, value.shape, elementTypeOf(value.dtype, call.context()));
  if (!value.data && value.size() != 0)
    call.fail(
        "the array has no elements in memory; make it with Array::of, Array::ints or Array::zeros");
  return call.tensor(
      call.state().constant(value, StringRef(name.data(), name.size()), call.loc(), false));
}

Tensor reshape(const Operand &x, Shape shape) {
  ApiCall call("reshape", {&x});
  Value value = call.value(x);
  auto type = cast<RankedTensorType>(value.getType());
  auto open = std::find(shape.begin(), shape.end(), -1);
  if (std::count_if(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; }) >
      (open != shape.end()))
    call.fail(
        "sizes must be 0 or more, and at most one may be -1 (derived from the others); found ",
        shapeText(shape));
  if (open != shape.end() && type.hasStaticShape()) {
    *open = 1;
    int64_t known = multiplyDims(shape), total = type.getNumElements();
    if (known == 0 || total % known != 0) {
      *open = -1;
      call.fail("the ", total, " elements of ", type, " cannot be reshaped to ", shapeText(shape),
                "; the product of the given sizes must divide them");
    }
    *open = total / known;
  } else if (open != shape.end()) {
    *open = ShapedType::kDynamic;
  } else if (type.hasStaticShape() && multiplyDims(shape) != type.getNumElements()) {
    call.fail("the number of elements must not change; found ", type.getNumElements(), " in ", type,
              " and ", multiplyDims(shape), " in ", shapeText(shape),
              "; write -1 for a size that is derived from the others");
  }
  return call.tensor(buildReshape(call, value, shape));
}

Tensor flatten(const Operand &x, int64_t start, int64_t end) {
  ApiCall call("flatten", {&x});
  RankedTensorType type = call.type(x);
  if (type.getRank() == 0)
    return reshape(x, {1});
  start = call.dimension(start, type.getRank());
  end = call.dimension(end, type.getRank());
  if (start > end)
    call.fail("the first dimension must not come after the last; found ", start, " and ", end);
  SmallVector<int64_t> shape(type.getShape().take_front(start));
  auto middle = type.getShape().slice(start, end - start + 1);
  shape.push_back(llvm::any_of(middle, ShapedType::isDynamic) ? ShapedType::kDynamic
                                                              : multiplyDims(middle));
  llvm::append_range(shape, type.getShape().drop_front(end + 1));
  return call.tensor(buildReshape(call, call.value(x), shape));
}

Tensor squeeze(const Operand &x, int64_t dim) {
  ApiCall call("squeeze", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank());
  if (type.getDimSize(dim) != 1)
    call.fail("dimension ", dim, " must have size 1; found ", type);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return call.tensor(buildReshape(call, call.value(x), shape));
}

Tensor unsqueeze(const Operand &x, int64_t dim) {
  ApiCall call("unsqueeze", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank() + 1);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + dim, 1);
  return call.tensor(buildReshape(call, call.value(x), shape));
}

Tensor permute(const Operand &x, Dims permutation) {
  ApiCall call("permute", {&x});
  int64_t rank = call.type(x).getRank();
  if (int64_t(permutation.size()) != rank)
    call.fail("the permutation must name each of the ", rank, " dimensions once; found ",
              shapeText(permutation));
  call.dimensions(permutation, rank); // reports an error unless they are distinct
  for (int64_t &dim : permutation)
    dim = call.dimension(dim, rank);
  TransposeOp::Adaptor::Properties properties;
  properties.permutation = call.list(permutation);
  return call.tensor(call.make<TransposeOp>(call.value(x), properties));
}

Tensor transpose(const Operand &x, int64_t a, int64_t b) {
  ApiCall call("transpose", {&x});
  int64_t rank = call.type(x).getRank();
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < rank; ++i)
    permutation.push_back(i);
  std::swap(permutation[call.dimension(a, rank)], permutation[call.dimension(b, rank)]);
  return permute(x, permutation);
}

Tensor broadcast_to(const Operand &x, Shape shape) {
  ApiCall call("broadcast_to", {&x});
  RankedTensorType type = call.type(x);
  auto result = staticType(call, shape, type.getElementType());
  return call.tensor(type.getShape() == result.getShape()
                         ? call.value(x)
                         : call.makeAs<BroadcastOp>(result, call.value(x)));
}

Tensor cat(const Operands &xs, int64_t dim) {
  ApiCall call("cat", xs);
  if (xs.empty())
    call.fail("at least one tensor is required; found none");
  SmallVector<Value> values;
  for (const Operand &x : xs)
    values.push_back(call.value(x));
  int64_t axis = call.dimension(dim, cast<RankedTensorType>(values[0].getType()).getRank());
  if (values.size() == 1)
    return call.tensor(values[0]);
  ConcatOp::Adaptor::Properties properties;
  properties.axis = call.integer(axis);
  return call.tensor(call.make<ConcatOp>(values, properties));
}

Tensor stack(const Operands &xs, int64_t dim) {
  ApiCall call("stack", xs);
  std::vector<Tensor> parts;
  for (const Operand &x : xs)
    parts.push_back(unsqueeze(x, dim));
  return cat(parts, dim);
}

Tensor slice(const Operand &x, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  ApiCall call("slice", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank());
  call.requireStatic(type, "to take a part of a tensor");
  if (step < 1)
    call.fail("the step must be 1 or more; found ", step, "; reverse with flip()");
  int64_t size = type.getDimSize(dim);
  auto position = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  start = position(start);
  stop = std::max(start, position(stop));
  int64_t count = (stop - start + step - 1) / step;
  return call.tensor(slicedAlong(call, call.value(x), dim, start, count, step));
}

Tensor narrow(const Operand &x, int64_t dim, int64_t start, int64_t length) {
  ApiCall call("narrow", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank());
  call.requireStatic(type, "to take a part of a tensor");
  int64_t size = type.getDimSize(dim);
  if (start < 0)
    start += size;
  if (start < 0 || length < 0 || start > size || length > size - start)
    call.fail("the part must be inside dimension ", dim, " of size ", size, "; found ", length,
              " elements from index ", start);
  return call.tensor(slicedAlong(call, call.value(x), dim, start, length));
}

Tensor select(const Operand &x, int64_t dim, int64_t index) {
  ApiCall call("select", {&x});
  int64_t rank = call.type(x).getRank();
  dim = call.dimension(dim, rank);
  return squeeze(narrow(x, dim, index, 1), dim);
}

std::vector<Tensor> chunk(const Operand &x, int64_t chunks, int64_t dim) {
  ApiCall call("chunk", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank());
  call.requireStatic(type, "to divide a tensor");
  int64_t size = type.getDimSize(dim);
  if (chunks < 1)
    call.fail("the number of parts must be 1 or more; found ", chunks);
  int64_t each = std::max<int64_t>((size + chunks - 1) / chunks, 1);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < size; at += each)
    parts.push_back(narrow(x, dim, at, std::min(each, size - at)));
  return parts;
}

Tensor flip(const Operand &x, int64_t dim) {
  ApiCall call("flip", {&x});
  RankedTensorType type = call.type(x);
  dim = call.dimension(dim, type.getRank());
  int64_t size = type.getDimSize(dim);
  return call.tensor(slicedAlong(call, call.value(x), dim, size - 1, size, -1));
}

Tensor pad(const Operand &x, Dims low, Dims high, const Operand &value, PadMode mode) {
  ApiCall call("pad", {&x});
  static constexpr dlc::PadMode modes[] = {dlc::PadMode::constant, dlc::PadMode::reflect,
                                           dlc::PadMode::edge, dlc::PadMode::wrap};
  PadOp::Adaptor::Properties properties;
  properties.mode = PadModeAttr::get(call.context(), modes[int(mode)]);
  properties.low = call.list(low);
  properties.high = call.list(high);
  return call.tensor(call.make<PadOp>({call.value(x), call.value(value)}, properties));
}

} // namespace dlc::trace

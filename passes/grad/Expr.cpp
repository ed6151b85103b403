//===- Expr.cpp - values with arithmetic, so that rules read as formulas --===//
#include "passes/grad/Expr.h"
#include "ir/dlc/Shape.h"

using namespace mlir;

namespace dlc::grad {

SmallVector<int64_t> range(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, std::max(from, to)));
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

Expr Expr::transpose(ArrayRef<int64_t> permutation) const {
  return {*b, b->make<TransposeOp>(v, permutation)};
}

Expr Expr::mean(ArrayRef<int64_t> axes) const { return {*b, b->reduce(ReduceKind::mean, v, axes)}; }

Expr Expr::fit(ArrayRef<int64_t> wanted) const {
  if (shape() == wanted)
    return *this;
  SmallVector<int64_t> axes;
  int64_t leading = rank() - int64_t(wanted.size());
  for (int64_t d = 0; d < rank(); ++d)
    if (d < leading || (wanted[d - leading] == 1 && dim(d) != 1))
      axes.push_back(d);
  Expr x = axes.empty() ? *this : sum(axes);
  SmallVector<int64_t> kept(x.shape().drop_front(std::max<int64_t>(leading, 0)));
  return x.reshape(kept).broadcast(wanted);
}

Expr Expr::part(int64_t axis, int64_t from, int64_t size) const {
  SmallVector<int64_t> start(rank(), 0), sizes(shape()), stride(rank(), 1);
  if (from == 0 && size == sizes[axis])
    return *this;
  start[axis] = from;
  sizes[axis] = size;
  return {*b, b->make<SliceOp>(v, start, sizes, stride)};
}

Expr Expr::reversed(int64_t axis) const {
  SmallVector<int64_t> start(rank(), 0), stride(rank(), 1);
  if (dim(axis) < 2)
    return *this;
  start[axis] = dim(axis) - 1;
  stride[axis] = -1;
  return {*b, b->make<SliceOp>(v, start, shape(), stride)};
}

Expr Expr::pad(ArrayRef<int64_t> low, ArrayRef<int64_t> high) const {
  auto isNothing = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isNothing) && llvm::all_of(high, isNothing))
    return *this;
  auto isLess = [](int64_t amount) { return amount <= 0; };
  if (!llvm::all_of(low, isLess) || !llvm::all_of(high, isLess))
    return {*b, b->make<PadOp>(v, scalar(0), PadMode::constant, low, high)};
  SmallVector<int64_t> start, size, stride(rank(), 1);
  for (int64_t d = 0; d < rank(); ++d) {
    start.push_back(-low[d]);
    size.push_back(dim(d) + low[d] + high[d]);
  }
  return {*b, b->make<SliceOp>(v, start, size, stride)};
}

Expr Expr::at(Value index) const { return {*b, b->make<GatherOp>(v, index, /*axis=*/0)}; }

Expr compare(Predicate predicate, Expr x, Expr y) {
  TensorBuilder &b = x.builder();
  return {b, b.make<CompareOp>(predicate, Value(x), Value(y))};
}

Expr select(Expr condition, Expr x, Expr y) {
  TensorBuilder &b = condition.builder();
  return {b, b.make<SelectOp>(Value(condition), Value(x), Value(y))};
}

Expr concat(ArrayRef<Value> parts, int64_t axis, TensorBuilder &b) {
  return {b, parts.size() == 1 ? parts.front() : b.make<ConcatOp>(parts, axis)};
}

Expr matmul(Expr x, Expr y, bool transposeX, bool transposeY) {
  TensorBuilder &b = x.builder();
  return {b, b.make<MatmulOp>(Value(x), Value(y), transposeX, transposeY)};
}

Expr channelSums(Expr x) {
  SmallVector<int64_t> axes = range(2, x.rank());
  axes.insert(axes.begin(), 0);
  return x.sum(axes).reshape(x.dim(1));
}

static Value constant(TensorBuilder &b, RankedTensorType type, Attribute value) {
  return b.make<ConstantOp>(llvm::cast<ElementsAttr>(DenseElementsAttr::get(type, value)));
}

Expr zeros(TensorBuilder &b, Type type) {
  auto tensor = llvm::cast<RankedTensorType>(type);
  auto one = makeTensorType({}, tensor.getElementType(), deviceOf(type));
  Attribute zero = Builder(type.getContext()).getZeroAttr(tensor.getElementType());
  return {b, b.broadcast(constant(b, one, zero), staticShape(tensor))};
}

Expr index(TensorBuilder &b, int64_t value, Value like) {
  Builder attributes(like.getContext());
  auto type = makeTensorType({}, attributes.getI64Type(), deviceOf(like.getType()));
  return {b, constant(b, type, attributes.getI64IntegerAttr(value))};
}

Expr iota(TensorBuilder &b, ArrayRef<int64_t> shape, int64_t axis, Value like) {
  auto type =
      makeTensorType(shape, IntegerType::get(like.getContext(), 64), deviceOf(like.getType()));
  return {b, b.make<IotaOp>(type, axis)};
}

} // namespace dlc::grad

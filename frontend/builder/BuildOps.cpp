//===- BuildOps.cpp - wrappers of dlc operations for the handlers ---------===//
#include "frontend/builder/Build.h"

#include <limits>

using namespace mlir;

namespace dlc::frontend {

Value Build::atLeast(Value x, Value low) {
  return isFloat(x) ? op<MaxOp>({x, low}, {attrUnit("strict")}) : max(x, low);
}

Value Build::atMost(Value x, Value high) {
  return isFloat(x) ? op<MinOp>({x, high}, {attrUnit("strict")}) : min(x, high);
}

Value Build::weightedMean(Value sum, Value total) {
  Value isZero = compare(Predicate::eq, total, like(total, 0));
  Value mean = div(sum, select(isZero, like(total, 1), total));
  return select(isZero, like(mean, std::numeric_limits<double>::quiet_NaN()), mean);
}

Value Build::rem(Value a, Value c, bool truncated) {
  SmallVector<NamedAttribute> attributes;
  if (truncated)
    attributes.push_back(attrUnit("truncated"));
  return op<RemOp>({a, c}, attributes);
}

Value Build::compare(Predicate predicate, Value a, Value c) {
  return op<CompareOp>({a, c}, {attr("predicate", PredicateAttr::get(context, predicate))});
}

Value Build::cast(Value x, Type element) {
  if (!x || !element)
    return {};
  if (elem(x) == element)
    return x;
  return op<CastOp>({x}, {attr("to", TypeAttr::get(element))});
}

Value Build::reshape(Value x, ArrayRef<int64_t> target) {
  if (!x || shape(x) == target)
    return x;
  if (!checkShape(target))
    return {};
  int64_t n = 1;
  for (int64_t d : target)
    n *= d;
  if (n != count(x)) {
    std::string text;
    for (int64_t d : target)
      text += (text.empty() ? "" : "x") + std::to_string(d);
    return error("cannot give " + Twine(count(x)) + " elements the shape [" + text +
                 "], which has " + Twine(n));
  }
  return typed<ReshapeOp>(RankedTensorType::get(target, elem(x)), {x});
}

Value Build::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (!x)
    return x;
  bool identity = true;
  for (auto [i, p] : llvm::enumerate(permutation))
    identity &= int64_t(i) == p;
  if (identity && int64_t(permutation.size()) == rank(x))
    return x;
  return op<TransposeOp>({x}, {attr("permutation", permutation)});
}

Value Build::swapLast(Value x) {
  int64_t r = rank(x);
  if (!x || !require(r >= 2, "required a tensor of rank 2 or more"))
    return {};
  Dims permutation(r);
  for (int64_t i = 0; i < r; ++i)
    permutation[i] = i;
  std::swap(permutation[r - 1], permutation[r - 2]);
  return transpose(x, permutation);
}

Value Build::broadcast(Value x, ArrayRef<int64_t> target) {
  if (!x || shape(x) == target)
    return x;
  for (int64_t d : target)
    if (d < 0)
      return error("a shape has the invalid dimension " + Twine(d));
  return typed<BroadcastOp>(RankedTensorType::get(target, elem(x)), {x});
}

Value Build::slice(Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> size,
                   ArrayRef<int64_t> stride) {
  if (!x)
    return x;
  if (size == shape(x) && llvm::all_of(stride, [](int64_t s) { return s == 1; }))
    return x;
  return op<SliceOp>({x}, {attr("start", start), attr("size", size), attr("stride", stride)});
}

Value Build::sliceAxis(Value x, int64_t axis, int64_t start, int64_t size, int64_t stride) {
  int64_t r = rank(x);
  if (!x || !require(axis >= 0 && axis < r,
                     "axis " + Twine(axis) + " is out of range for a tensor of rank " + Twine(r)))
    return {};
  Dims starts(r, 0), sizes = dims(x), strides(r, 1);
  starts[axis] = start;
  sizes[axis] = size;
  strides[axis] = stride;
  return slice(x, starts, sizes, strides);
}

Value Build::at(Value x, int64_t axis, int64_t index) {
  Value part = sliceAxis(x, axis, index, 1);
  Dims target = dims(part);
  if (part)
    target.erase(target.begin() + axis);
  return reshape(part, target);
}

Value Build::reverse(Value x, int64_t axis) {
  int64_t n = dim(x, axis);
  return n < 2 ? x : sliceAxis(x, axis, n - 1, n, -1);
}

Value Build::concat(ArrayRef<Value> xs, int64_t axis) {
  if (xs.size() == 1)
    return xs[0];
  return op<ConcatOp>(xs, {attr("axis", axis)});
}

Value Build::stack(ArrayRef<Value> xs, int64_t axis) {
  std::vector<Value> parts;
  for (Value x : xs)
    parts.push_back(expandDims(x, axis));
  return concat(parts, axis);
}

Value Build::pad(Value x, Value value, PadMode mode, ArrayRef<int64_t> low,
                 ArrayRef<int64_t> high) {
  if (llvm::all_of(low, [](int64_t p) { return p == 0; }) &&
      llvm::all_of(high, [](int64_t p) { return p == 0; }))
    return x;
  return op<PadOp>({x, value}, {attr("mode", PadModeAttr::get(context, mode)), attr("low", low),
                                attr("high", high)});
}

Value Build::padZero(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  return x ? pad(x, like(x, 0), PadMode::constant, low, high) : x;
}

Value Build::iota(Type element, ArrayRef<int64_t> shape, int64_t axis) {
  if (!element)
    return {};
  for (int64_t d : shape)
    if (d < 0)
      return error("a shape has the invalid dimension " + Twine(d));
  return typed<IotaOp>(RankedTensorType::get(shape, element), {}, {attr("axis", axis)});
}

Value Build::expandDims(Value x, int64_t axis) {
  Dims target = dims(x);
  if (!x || !require(axis >= 0 && axis <= int64_t(target.size()), "a new axis is out of range"))
    return {};
  target.insert(target.begin() + axis, 1);
  return reshape(x, target);
}

Value Build::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keepdims) {
  if (axes.empty())
    return x;
  SmallVector<NamedAttribute> attributes{attr("kind", ReduceKindAttr::get(context, kind)),
                                         attr("axes", axes)};
  if (keepdims)
    attributes.push_back(attrUnit("keepdims"));
  return op<ReduceOp>({x}, attributes);
}

Value Build::runningSum(Value x, int64_t axis) {
  return op<CumulativeOp>(
      {x}, {attr("kind", ReduceKindAttr::get(context, ReduceKind::sum)), attr("axis", axis)});
}

Value Build::scatter(Value x, Value indices, Value updates, int64_t axis,
                     ScatterReduction reduction) {
  return op<ScatterElementsOp>(
      {x, indices, updates},
      {attr("axis", axis), attr("reduction", ScatterReductionAttr::get(context, reduction))});
}

Value Build::gatherNd(Value x, Value indices, int64_t batchDims) {
  return op<GatherNdOp>({x, indices}, {attr("batch_dims", batchDims)});
}

Value Build::matmul(Value a, Value c, bool transposeA, bool transposeB) {
  SmallVector<NamedAttribute> attributes;
  if (transposeA)
    attributes.push_back(attrUnit("transpose_a"));
  if (transposeB)
    attributes.push_back(attrUnit("transpose_b"));
  // dlc.matmul of 8-bit integers returns i32 sums, so the result is cast to the type of the
  // operands.
  return cast(op<MatmulOp>({a, c}, attributes), elem(a));
}

} // namespace dlc::frontend

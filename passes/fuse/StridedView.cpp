//===- StridedView.cpp - views of a buffer by offset and strides ----------===//
#include "passes/fuse/StridedView.h"

using namespace mlir;

namespace dlc {
namespace {

StridedView identity(Value value) {
  StridedView view;
  view.base = value;
  view.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  auto strides = ref::rowMajorStrides(view.shape);
  view.strides.assign(strides.begin(), strides.end());
  return view;
}

StridedView transposed(const StridedView &view, ArrayRef<int64_t> permutation) {
  StridedView result = view;
  for (auto [i, from] : llvm::enumerate(permutation)) {
    result.shape[i] = view.shape[from];
    result.strides[i] = view.strides[from];
  }
  return result;
}

std::optional<StridedView> reshaped(StridedView view, ArrayRef<int64_t> shape) {
  auto strides = reshapeStrides(view.shape, view.strides, shape);
  if (!strides)
    return std::nullopt;
  view.shape.assign(shape.begin(), shape.end());
  view.strides = *strides;
  return view;
}

} // namespace

std::optional<SmallVector<int64_t>>
reshapeStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, ArrayRef<int64_t> newShape) {
  // Maximal runs of dimensions that one stride walks: (elements, innermost stride), outermost
  // first.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    if (size == 0)
      return std::nullopt;
    if (size == 1)
      continue;
    if (!runs.empty() && runs.back().second == stride * size)
      runs.back() = {runs.back().first * size, stride};
    else
      runs.push_back({size, stride});
  }
  SmallVector<int64_t> result(newShape.size(), 0);
  int64_t run = static_cast<int64_t>(runs.size()) - 1;
  int64_t left = run >= 0 ? runs[run].first : 1;
  int64_t stride = run >= 0 ? runs[run].second : 1;
  for (int64_t d = static_cast<int64_t>(newShape.size()) - 1; d >= 0; --d) {
    if (newShape[d] == 1) {
      result[d] = stride;
      continue;
    }
    if (left == 1 && --run >= 0) {
      left = runs[run].first;
      stride = runs[run].second;
    }
    if (left % newShape[d] != 0)
      return std::nullopt;
    result[d] = stride;
    left /= newShape[d];
    stride *= newShape[d];
  }
  return result;
}

bool StridedView::isContiguous() const {
  if (offset != 0)
    return false;
  auto rowMajor = ref::rowMajorStrides(shape);
  int64_t elements = 1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1 && strides[d] != rowMajor[d])
      return false;
    elements *= size;
  }
  return elements == typeOf(base).getNumElements();
}

void StridedView::swapLastTwo() {
  size_t rank = shape.size();
  std::swap(shape[rank - 1], shape[rank - 2]);
  std::swap(strides[rank - 1], strides[rank - 2]);
}

std::optional<StridedView> asStrided(Value value, OpFilter inside) {
  Operation *op = value.getDefiningOp();
  if (!layoutOf(value.getType()).empty() || !op ||
      !isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op) || (inside && !inside(op)))
    return identity(value);
  std::optional<StridedView> view = asStrided(op->getOperand(0), inside);
  if (!view)
    return std::nullopt;
  if (isa<ReshapeOp>(op))
    return reshaped(std::move(*view), shapeOf(value));
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transposed(*view, transpose.getPermutation());
  if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t d = 0; d < view->shape.size(); ++d) {
      // Libraries take no negative strides.
      if (slice.getStride()[d] < 0 && slice.getSize()[d] > 1)
        return std::nullopt;
      view->offset += slice.getStart()[d] * view->strides[d];
      view->strides[d] *= slice.getSize()[d] > 1 ? slice.getStride()[d] : 1;
      view->shape[d] = slice.getSize()[d];
    }
    return view;
  }
  ArrayRef<int64_t> shape = shapeOf(value);
  StridedView result = *view;
  result.shape.assign(shape.begin(), shape.end());
  result.strides.assign(shape.size(), 0);
  size_t extra = shape.size() - view->shape.size();
  for (size_t d = 0; d < view->shape.size(); ++d)
    if (view->shape[d] == shape[d + extra])
      result.strides[d + extra] = view->strides[d];
  return result;
}

std::optional<StridedView> asStridedDestination(Value inner, Value yielded) {
  StridedView view = identity(yielded);
  for (Value value = yielded; value != inner;) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<ReshapeOp, TransposeOp>(op))
      return std::nullopt;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inverse(transpose.getPermutation().size());
      for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
        inverse[from] = i;
      view = transposed(view, inverse);
    } else {
      auto back = reshaped(view, shapeOf(op->getOperand(0)));
      if (!back)
        return std::nullopt;
      view = *back;
    }
    value = op->getOperand(0);
  }
  return view;
}

} // namespace dlc

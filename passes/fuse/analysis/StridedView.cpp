//===- StridedView.cpp - views of a buffer by offset and strides ----------===//
#include "passes/fuse/analysis/StridedView.h"
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Shape.h"

using namespace mlir;

namespace dlc {

/// Returns the strided view with indices `dims` whose elements are those of `base` at the index
/// `at`. Returns nullopt if a dimension has no constant stride, or a negative stride, which
/// libraries do not support.
static std::optional<StridedView> viewAt(Value base, ArrayRef<int64_t> shape, IndexContext &x,
                                         ArrayRef<IndexExpr> dims, ArrayRef<IndexExpr> at) {
  IndexExpr offset;
  for (auto [i, stride] : llvm::zip(at, ref::rowMajorStrides(shapeOf(base))))
    offset = x.add(offset, i * stride);
  StridedView view{base, llvm::to_vector(shape), SmallVector<int64_t>(shape.size()), 0};
  int64_t next = 1;
  for (size_t d = shape.size(); d-- > 0; next *= shape[d]) {
    int64_t &stride = view.strides[d];
    stride = offset.coefficient(dims[d].terms.front().first);
    offset = offset - dims[d] * stride;
    if (stride < 0 && shape[d] > 1)
      return std::nullopt;
    // The stride of a dimension of size 1 is arbitrary. It is set to the stride of a contiguous
    // tensor.
    if (shape[d] == 1 && stride <= 0)
      stride = next;
    next = stride;
  }
  if (!offset.isConstant())
    return std::nullopt;
  view.offset = offset.constant;
  return view;
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
  return elements == staticElements(typeOf(base));
}

void StridedView::swapLastTwo() {
  size_t rank = shape.size();
  std::swap(shape[rank - 1], shape[rank - 2]);
  std::swap(strides[rank - 1], strides[rank - 2]);
}

std::optional<StridedView> matchStridedView(Value value, OpFilter inside) {
  IndexContext x;
  Coordinates dims = x.variables("d", shapeOf(value), /*units=*/true), at = dims;
  Value base = value;
  for (Operation *op = base.getDefiningOp(); op && layoutOf(base.getType()).empty() &&
                                             op->hasTrait<ViewLike>() && (!inside || inside(op));
       op = base.getDefiningOp()) {
    at = *getSourceIndex(op, x, at);
    base = op->getOperand(0);
  }
  return viewAt(base, shapeOf(value), x, dims, at);
}

std::optional<StridedView> matchStridedDestination(Value inner, Value yielded) {
  SmallVector<Operation *> chain;
  for (Value value = yielded; value != inner; value = chain.back()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<ReshapeOp, TransposeOp>(op))
      return std::nullopt;
    chain.push_back(op);
  }
  // Composes the inverse index maps of the reshapes and transposes between `inner` and `yielded`.
  // The result maps an index of `inner` to the index of the same element in `yielded`.
  IndexContext x;
  Coordinates dims = x.variables("d", shapeOf(inner), /*units=*/true), at = dims;
  for (Operation *op : llvm::reverse(chain)) {
    auto transpose = dyn_cast<TransposeOp>(op);
    Coordinates from = std::exchange(at, {});
    if (transpose)
      for (int64_t dim : transpose.getPermutation())
        at.push_back(from[dim]);
    else
      at = x.reshape(shapeOf(op->getOperand(0)), shapeOf(op->getResult(0)), from);
  }
  return viewAt(yielded, shapeOf(inner), x, dims, at);
}

} // namespace dlc

//===- Strided.cpp - as_strided views and input layouts -------------------===//
#include "frontend/aten/Node.h"
#include "ir/dlc/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Returns the dimensions whose size is not 1, in descending order of their strides.
Dims sortDimsByStride(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  Dims order;
  for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
    if (sizes[size_t(i)] != 1)
      order.push_back(i);
  llvm::stable_sort(order,
                    [&](int64_t a, int64_t c) { return strides[size_t(a)] > strides[size_t(c)]; });
  return order;
}

/// Returns whether the elements are contiguous in memory if the dimensions are traversed in the
/// given order.
bool isContiguous(ArrayRef<int64_t> order, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  int64_t step = 1;
  for (int64_t d : llvm::reverse(order)) {
    if (strides[size_t(d)] != step)
      return false;
    step *= sizes[size_t(d)];
  }
  return true;
}

/// Transposes x so that the dimensions in `order` are last, in that order. All other dimensions
/// have size 1.
Value transposeToOrder(Build &b, Value x, ArrayRef<int64_t> order) {
  Dims all;
  for (int64_t i = 0; i < b.rank(x); ++i)
    if (!llvm::is_contained(order, i))
      all.push_back(i);
  all.insert(all.end(), order.begin(), order.end());
  return b.transpose(x, all);
}

/// Undoes the transpose of transposeToOrder(): returns a tensor of shape `sizes` from flat elements
/// that are stored in the dimension order `order`.
Value undoTransposeToOrder(Build &b, Value flat, ArrayRef<int64_t> order, ArrayRef<int64_t> sizes) {
  Dims shape, back(order.size()), sorted(order);
  llvm::sort(sorted);
  for (int64_t d : order)
    shape.push_back(sizes[size_t(d)]);
  for (auto [to, d] : llvm::enumerate(sorted))
    back[to] = int64_t(llvm::find(order, d) - order.begin());
  return b.reshape(b.transpose(b.reshape(flat, shape), back), sizes);
}

/// Operands of as_strided and of its inverse as_strided_scatter: a strided view of the elements of
/// a contiguous tensor x.
struct StridedView {
  Value x;
  /// x's elements in memory order, flattened.
  Value flat;
  Dims order, sizes, strides;
  /// Memory offset of the view's first element.
  int64_t offset = 0;

  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
  /// Returns the memory offset of each element of the view.
  Dims places() const {
    Dims result{offset};
    for (auto [size, stride] : llvm::zip(sizes, strides)) {
      Dims before = std::move(result);
      result.clear();
      for (int64_t place : before)
        for (int64_t i = 0; i < size; ++i)
          result.push_back(place + i * stride);
    }
    return result;
  }
};

StridedView readStridedView(Node &n, Build &b) {
  StridedView v;
  v.x = n.tensor("self");
  Dims own = n.ints("self_stride");
  v.sizes = n.ints("size"), v.strides = n.ints("stride");
  int64_t start = n.integer("self_offset", 0);
  v.offset = n.integer("storage_offset", start) - start;
  if (!b.require(int64_t(own.size()) == b.rank(v.x) && v.sizes.size() == v.strides.size(),
                 "argument 'stride': required: a step for each dimension"))
    return v;
  v.order = sortDimsByStride(b.dims(v.x), own);
  int64_t last = v.offset;
  for (auto [size, stride] : llvm::zip(v.sizes, v.strides))
    last += (size - 1) * stride;
  b.require(isContiguous(v.order, b.dims(v.x), own), "required: a tensor that is dense in memory");
  b.require(v.count() > 0 && v.offset >= 0 && last < b.count(v.x),
            "required: a view inside the tensor's elements");
  v.flat = b.flatten(transposeToOrder(b, v.x, v.order));
  return v;
}

/// Returns the memory offsets of all elements as a constant, for a view that is not a contiguous
/// block.
Value computeMemoryOffsets(Build &b, const StridedView &v) {
  if (!b.require(v.count() <= Build::needLimit,
                 "the strided view has too many non-contiguous elements"))
    return {};
  return b.ints(v.places());
}

void asStrided(Node &n, Build &b) {
  StridedView v = readStridedView(n, b);
  if (!b.ok())
    return;
  Dims block = v.sizes;
  for (auto [size, stride] : llvm::zip(block, v.strides))
    size = stride == 0 ? 1 : size;
  Dims order = sortDimsByStride(block, v.strides);
  if (!isContiguous(order, block, v.strides))
    return n.set(b.reshape(b.gather(v.flat, computeMemoryOffsets(b, v), 0), v.sizes));
  int64_t count = 1;
  for (int64_t size : block)
    count *= size;
  Value part = b.sliceAxis(v.flat, 0, v.offset, count);
  n.set(b.broadcast(undoTransposeToOrder(b, part, order, block), v.sizes));
}

void asStridedScatter(Node &n, Build &b) {
  StridedView v = readStridedView(n, b);
  if (!b.ok())
    return;
  Value source = b.cast(n.tensor("src"), b.elem(v.x)), flat;
  Dims order = sortDimsByStride(v.sizes, v.strides);
  if (isContiguous(order, v.sizes, v.strides)) {
    int64_t end = v.offset + v.count();
    flat = b.concat({b.sliceAxis(v.flat, 0, 0, v.offset),
                     b.flatten(transposeToOrder(b, source, order)),
                     b.sliceAxis(v.flat, 0, end, b.count(v.x) - end)},
                    0);
  } else {
    flat = b.op<ScatterElementsOp>(
        {v.flat, computeMemoryOffsets(b, v), b.flatten(source)},
        {b.attr("axis", int64_t(0)),
         b.attr("reduction", ScatterReductionAttr::get(b.context, ScatterReduction::none))});
  }
  n.set(undoTransposeToOrder(b, flat, v.order, b.dims(v.x)));
}

/// Records the memory layout of an input that is not stored in row-major order. The layout is an
/// attribute of the argument, because the tensor type cannot express it.
void recordInputLayout(Node &n, Build &b) {
  auto input = dyn_cast_if_present<BlockArgument>(n.tensor("x"));
  if (!b.require(bool(input), "required: an input"))
    return;
  if (std::string layout = n.text("layout"); !layout.empty())
    cast<func::FuncOp>(input.getOwner()->getParentOp())
        .setArgAttr(input.getArgNumber(), kLayoutAttr, b.b.getStringAttr(layout));
  n.set(input);
}

const Operator table[] = {
    {"as_strided.default", asStrided},
    {"as_strided_copy.default", asStrided},
    {"as_strided_scatter.default", asStridedScatter},
    {"dlc::laid.default", recordInputLayout},
};

} // namespace

ArrayRef<Operator> stridedOperators() { return table; }

} // namespace dlc::aten

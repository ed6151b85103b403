//===- Slice.cpp - slices, concatenation, diagonals, windows --------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Elements of a dimension that are selected by a slice `start:end:step`.
struct SliceRange {
  int64_t start, count, step;
};

SliceRange readSliceRange(Node &n, Build &b, int64_t size) {
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t at = n.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  int64_t start = bound("start", 0), end = bound("end", size), step = n.integer("step", 1);
  if (!b.require(step > 0, "argument 'step': required: a positive number"))
    return {0, 0, 1};
  return {start, end > start ? (end - start + step - 1) / step : 0, step};
}

void slice(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x));
  if (!b.require(b.rank(x) > 0, "a tensor without dimensions has no slices"))
    return;
  SliceRange range = readSliceRange(n, b, b.dim(x, axis));
  n.set(b.sliceAxis(x, axis, range.count ? range.start : 0, range.count, range.step));
}

int64_t readIndex(Node &n, Build &b, int64_t size) {
  int64_t index = n.integer("index");
  return b.axis(index, size, "argument 'index'");
}

void select(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x));
  if (b.require(b.rank(x) > 0, "a tensor without dimensions has no slices"))
    n.set(b.at(x, axis, readIndex(n, b, b.dim(x, axis))));
}

void narrow(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x)), start = n.integer("start");
  n.set(b.sliceAxis(x, axis, start < 0 ? start + b.dim(x, axis) : start, n.integer("length")));
}

void setSplitResults(Node &n, Build &b, Value x, int64_t axis, ArrayRef<int64_t> sizes) {
  std::vector<Value> parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    parts.push_back(b.sliceAxis(x, axis, at, size));
    at += size;
  }
  n.setAll(parts);
}

void splitSizes(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims sizes = n.has("split_sizes") ? n.ints("split_sizes") : n.ints("split_size");
  setSplitResults(n, b, x, n.axis("dim", b.rank(x)), sizes);
}

void split(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x)), size = n.integer("split_size");
  if (!b.require(size > 0 && b.rank(x) > 0, "argument 'split_size': required: a positive number"))
    return;
  Dims sizes;
  for (int64_t rest = b.dim(x, axis); rest > 0; rest -= size)
    sizes.push_back(std::min(size, rest));
  setSplitResults(n, b, x, axis, sizes);
}

void unbind(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x));
  std::vector<Value> parts;
  for (int64_t i = 0; b.ok() && i < b.dim(x, axis); ++i)
    parts.push_back(b.at(x, axis, i));
  n.setAll(parts);
}

void cat(Node &n, Build &b) {
  std::vector<Value> parts;
  for (Value part : n.tensors("tensors"))
    // A list of tensors to concatenate may contain tensors of shape [0], which are ignored for
    // compatibility with old PyTorch versions.
    if (!(b.rank(part) == 1 && b.dim(part, 0) == 0))
      parts.push_back(b.cast(part, n.resultElement()));
  if (parts.empty())
    return n.set(b.splat(n.resultElement(), {0}, 0));
  n.set(b.concat(parts, n.axis("dim", b.rank(parts[0]))));
}

void stack(Node &n, Build &b) {
  std::vector<Value> parts;
  for (Value part : n.tensors("tensors"))
    parts.push_back(b.cast(part, n.resultElement()));
  if (b.require(!parts.empty(), "argument 'tensors': required: one or more"))
    n.set(b.stack(parts, n.axis("dim", b.rank(parts[0]) + 1)));
}

void flip(Node &n, Build &b) {
  Value x = n.tensor("self");
  for (int64_t axis : n.axes("dims", b.rank(x), /*emptyIsAll=*/false))
    x = b.reverse(x, axis);
  n.set(x);
}

Value rollDim(Build &b, Value x, int64_t axis, int64_t shift) {
  int64_t size = b.dim(x, axis);
  shift = size ? (shift % size + size) % size : 0;
  if (!shift)
    return x;
  return b.concat(
      {b.sliceAxis(x, axis, size - shift, shift), b.sliceAxis(x, axis, 0, size - shift)}, axis);
}

void roll(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims shifts = n.ints("shifts"), axes = n.ints("dims");
  if (axes.empty() && shifts.size() == 1)
    return n.set(b.reshape(rollDim(b, b.flatten(x), 0, shifts[0]), b.dims(x)));
  if (!b.require(axes.size() == shifts.size(), "required: a shift for each dimension"))
    return;
  for (auto [axis, shift] : llvm::zip(axes, shifts))
    x = rollDim(b, x, b.axis(axis, b.rank(x)), shift);
  n.set(x);
}

/// Returns x with the elements of a range along an axis replaced by the tensor `part`.
Value replaceRange(Build &b, Value x, Value part, int64_t axis, SliceRange range) {
  if (range.count == 0)
    return x;
  int64_t size = b.dim(x, axis), after = range.start + (range.count - 1) * range.step + 1;
  if (range.step == 1)
    return b.concat(
        {b.sliceAxis(x, axis, 0, range.start), part, b.sliceAxis(x, axis, after, size - after)},
        axis);
  Dims from;
  for (int64_t i = 0; i < size; ++i) {
    int64_t step = i - range.start;
    bool taken = step >= 0 && step % range.step == 0 && step / range.step < range.count;
    from.push_back(taken ? size + step / range.step : i);
  }
  return b.gather(b.concat({x, part}, axis), b.ints(from), axis);
}

void sliceScatter(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x));
  SliceRange range = readSliceRange(n, b, b.dim(x, axis));
  Dims shape = b.dims(x);
  if (!shape.empty())
    shape[size_t(axis)] = range.count;
  n.set(replaceRange(b, x, b.broadcast(b.cast(n.tensor("src"), b.elem(x)), shape), axis, range));
}

void selectScatter(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x)), index = readIndex(n, b, b.dim(x, axis));
  Value part = b.expandDims(b.cast(n.tensor("src"), b.elem(x)), axis);
  n.set(replaceRange(b, x, part, axis, {index, 1, 1}));
}

/// A diagonal of x: x with its last two dimensions flattened, and the range of the diagonal's
/// elements in the flattened dimension.
struct Diagonal {
  Value flat;
  /// Permutation of x that moves the dimensions `dim1` and `dim2` to the end, before they are
  /// flattened.
  Dims order;
  SliceRange range{0, 0, 1};
};

Diagonal readDiagonal(Node &n, Build &b, Value x) {
  int64_t rank = b.rank(x), first = n.axis("dim1", rank), second = n.axis("dim2", rank),
          offset = n.integer("offset", 0);
  Diagonal d;
  for (int64_t i = 0; i < rank; ++i)
    if (i != first && i != second)
      d.order.push_back(i);
  d.order.insert(d.order.end(), {first, second});
  if (!b.require(rank >= 2 && first != second, "required: two dimensions"))
    return d;
  x = b.transpose(x, d.order);
  int64_t rows = b.dim(x, -2), columns = b.dim(x, -1), row = std::max<int64_t>(0, -offset),
          column = std::max<int64_t>(0, offset);
  int64_t count = std::max<int64_t>(0, std::min(rows - row, columns - column));
  Dims shape(b.shape(x).begin(), b.shape(x).end() - 2);
  shape.push_back(rows * columns);
  d.flat = b.reshape(x, shape);
  d.range = {count ? row * columns + column : 0, count, columns + 1};
  return d;
}

void diagonal(Node &n, Build &b) {
  Diagonal d = readDiagonal(n, b, n.tensor("self"));
  n.set(b.sliceAxis(d.flat, b.rank(d.flat) - 1, d.range.start, d.range.count, d.range.step));
}

void diagonalScatter(Node &n, Build &b) {
  Value x = n.tensor("self");
  Diagonal d = readDiagonal(n, b, x);
  if (!b.ok())
    return;
  Value flat =
      replaceRange(b, d.flat, b.cast(n.tensor("src"), b.elem(x)), b.rank(d.flat) - 1, d.range);
  Dims shape, back(d.order.size());
  for (auto [to, from] : llvm::enumerate(d.order)) {
    shape.push_back(b.dim(x, from));
    back[size_t(from)] = int64_t(to);
  }
  n.set(b.transpose(b.reshape(flat, shape), back));
}

/// unfold: extracts sliding windows along one dimension. The elements of each window are along a
/// new last dimension.
void unfold(Node &n, Build &b) {
  Value x = n.tensor("self");
  // A 0-d tensor is treated as a vector of one element, which has a single window.
  bool isNumber = b.rank(x) == 0;
  if (isNumber)
    x = b.reshape(x, {1});
  int64_t axis = n.axis("dimension", b.rank(x)), size = n.integer("size"), step = n.integer("step");
  if (!b.ok() || !b.require(size >= 0 && size <= b.dim(x, axis) && step > 0,
                            "required: windows within the dimension, one or more elements apart"))
    return;
  int64_t count = (b.dim(x, axis) - size) / step + 1;
  Dims places, shape = b.dims(x), order;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < size; ++j)
      places.push_back(i * step + j);
  shape[size_t(axis)] = count;
  shape.insert(shape.begin() + axis + 1, size);
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (i != axis + 1)
      order.push_back(i);
  order.push_back(axis + 1);
  Value y = b.gather(x, b.ints(places), axis);
  n.set(isNumber ? y : b.transpose(b.reshape(y, shape), order));
}

const Operator table[] = {
    {"slice.Tensor", slice},
    {"unfold.default", unfold},
    {"unfold_copy.default", unfold},
    {"slice_copy.Tensor", slice},
    {"select.int", select},
    {"select_copy.int", select},
    {"narrow.default", narrow},
    {"narrow_copy.default", narrow},
    {"split.Tensor", split},
    {"split_copy.Tensor", split},
    {"split_with_sizes.default", splitSizes},
    {"split_with_sizes_copy.default", splitSizes},
    {"unbind.int", unbind},
    {"unbind_copy.int", unbind},
    {"cat.default", cat},
    {"stack.default", stack},
    {"flip.default", flip},
    {"roll.default", roll},
    {"slice_scatter.default", sliceScatter},
    {"select_scatter.default", selectScatter},
    {"diagonal.default", diagonal},
    {"diagonal_copy.default", diagonal},
    {"diagonal_scatter.default", diagonalScatter},
};

} // namespace

ArrayRef<Operator> sliceOperators() { return table; }

} // namespace dlc::aten

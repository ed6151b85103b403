//===- Slice.cpp - slices, padding, slices at computed positions -------------------===//
#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {

Value dilate(Build &b, Value x, Value scalar, int64_t axis, int64_t interior) {
  const int64_t size = b.dim(x, axis);
  if (size < 2 || interior == 0)
    return x;
  Dims shape = b.dims(x), low(shape.size() + 1, 0), high = low;
  high[axis + 1] = interior;
  Value apart = b.pad(b.expandDims(x, axis + 1), scalar, PadMode::constant, low, high);
  shape[axis] = size * (interior + 1);
  return b.sliceAxis(b.reshape(apart, shape), axis, 0, shape[axis] - interior);
}

Value castToIndexType(Build &b, Value indices) {
  Type element = b.elem(indices);
  if (element == b.i32 || element == b.i64)
    return indices;
  return b.cast(indices, element.getIntOrFloatBitWidth() < 32 ? b.i32 : b.i64);
}

Value clampIndices(Build &b, Value indices, Value high) {
  Value zero = b.scalarInt(b.elem(indices), 0);
  return b.min(b.max(indices, zero), high);
}

namespace {

void slice(Node &n, Build &b) {
  Dims start = n.ints("start_indices"), limit = n.ints("limit_indices"), stride = n.ints("strides"),
       size;
  const size_t rank = b.dims(n.in(0)).size();
  if (!b.require(start.size() == rank && limit.size() == rank && stride.size() == rank,
                 "required: a range for each dimension"))
    return;
  for (size_t d = 0; d < rank; ++d) {
    if (!b.require(stride[d] > 0 && limit[d] >= start[d],
                   "required: a positive stride and a limit that is not below the start"))
      return;
    size.push_back((limit[d] - start[d] + stride[d] - 1) / stride[d]);
  }
  n.set(b.slice(n.in(0), start, size, stride));
}

void pad(Node &n, Build &b) {
  Value x = n.in(0);
  const size_t rank = b.dims(x).size();
  Dims interior = n.ints("interior_padding", rank, 0);
  Dims low = n.ints("edge_padding_low", rank, 0), high = n.ints("edge_padding_high", rank, 0);
  for (size_t d = 0; d < rank; ++d)
    x = dilate(b, x, n.in(1), int64_t(d), interior[d]);
  n.set(b.pad(x, n.in(1), PadMode::constant, low, high));
}

/// Start index of a slice along one dimension, clamped so that the slice is inside the operand.
/// `known` is set if the index is a constant.
struct SliceStart {
  Value value; ///< the clamped start index, a 0-d tensor
  std::optional<int64_t> known;
};

SliceStart clampSliceStart(Build &b, Value start, int64_t size, int64_t part) {
  Value index = castToIndexType(b, start);
  Value clamped = clampIndices(b, index, b.scalarInt(b.elem(index), size - part));
  auto known = b.known(clamped);
  return {clamped, known ? std::optional(known->getInt(0)) : std::nullopt};
}

/// Returns a vector of the indices start, start + 1, .., start + count - 1.
Value buildIndexRange(Build &b, const SliceStart &start, int64_t count) {
  return b.add(b.reshape(start.value, {1}), b.iota(b.elem(start.value), {count}, 0));
}

void dynamicSlice(Node &n, Build &b) {
  Value x = n.in(0);
  Dims sizes = n.ints("slice_sizes");
  if (!b.require(sizes.size() + 1 == n.ins.size() && int64_t(sizes.size()) == b.rank(x),
                 "required: a start and a size for each dimension"))
    return;
  for (size_t d = 0; d < sizes.size() && b.ok(); ++d) {
    const int64_t size = b.dim(x, int64_t(d));
    if (sizes[d] == size)
      continue;
    SliceStart start = clampSliceStart(b, n.in(d + 1), size, sizes[d]);
    x = start.known ? b.sliceAxis(x, int64_t(d), *start.known, sizes[d])
                    : b.gather(x, buildIndexRange(b, start, sizes[d]), int64_t(d));
  }
  n.set(x);
}

/// Replaces the elements of x from the constant index `start` on along one axis by the update, as a
/// concatenation.
Value updateAtConstantStart(Build &b, Value x, Value update, int64_t axis, int64_t start) {
  const int64_t size = b.dim(x, axis), end = start + b.dim(update, axis);
  Values parts;
  if (start > 0)
    parts.push_back(b.sliceAxis(x, axis, 0, start));
  parts.push_back(update);
  if (end < size)
    parts.push_back(b.sliceAxis(x, axis, end, size - end));
  return b.concat(parts, axis);
}

/// Replaces a slice of x at computed start indices by the update, as a scatter_nd. The index tuples
/// have one component for each dimension up to the last one that the update does not cover as a
/// whole.
Value updateAtComputedStarts(Build &b, Value x, Value update, ArrayRef<SliceStart> starts) {
  const int64_t depth = int64_t(starts.size());
  Dims places(b.shape(update).take_front(depth).vec());
  Values tuple;
  for (int64_t d = 0; d < depth; ++d) {
    Dims shape(size_t(depth), 1);
    shape[d] = places[d];
    Value indices = b.reshape(buildIndexRange(b, starts[d], places[d]), shape);
    tuple.push_back(b.expandDims(b.broadcast(b.cast(indices, b.i64), places), depth));
  }
  auto none = ScatterReductionAttr::get(b.context, ScatterReduction::none);
  return b.op<ScatterNdOp>({x, b.concat(tuple, depth), update}, {b.attr("reduction", none)});
}

void dynamicUpdateSlice(Node &n, Build &b) {
  Value x = n.in(0), update = n.in(1);
  const int64_t rank = b.rank(x);
  if (!b.require(b.rank(update) == rank && int64_t(n.ins.size()) == rank + 2,
                 "required: an update of the operand's rank and a start for each dimension"))
    return;
  SmallVector<SliceStart> starts;
  Dims partial;
  for (int64_t d = 0; d < rank && b.ok(); ++d) {
    starts.push_back(clampSliceStart(b, n.in(size_t(d) + 2), b.dim(x, d), b.dim(update, d)));
    if (b.dim(update, d) != b.dim(x, d))
      partial.push_back(d);
  }
  if (!b.ok())
    return;
  if (partial.empty())
    return n.set(update);
  if (partial.size() == 1 && starts[partial[0]].known)
    return n.set(updateAtConstantStart(b, x, update, partial[0], *starts[partial[0]].known));
  starts.resize(size_t(partial.back()) + 1);
  n.set(updateAtComputedStarts(b, x, update, starts));
}

const OperatorEntry table[] = {
    {"stablehlo.dynamic_slice", dynamicSlice},
    {"stablehlo.dynamic_update_slice", dynamicUpdateSlice},
    {"stablehlo.pad", pad},
    {"stablehlo.slice", slice},
};

} // namespace

ArrayRef<OperatorEntry> sliceEntries() { return table; }

} // namespace dlc::stablehlo

//===- Gather.cpp - reference evaluation of gathers and scatters ----------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Clamps an index of a gather: negative indices count from the end, and an index out of range
/// reads the nearest element.
static int64_t clampIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
}

/// Checks an index of a scatter: negative indices count from the end, and an index out of range is
/// an error.
static FailureOr<int64_t> checkScatterIndex(Operation *op, int64_t index, int64_t size) {
  const int64_t place = index < 0 ? index + size : index;
  if (place < 0 || place >= size)
    return op->emitOpError("needs indices from ")
           << -size << " to " << size - 1 << ", found " << index;
  return place;
}

static LogicalResult reportEmptyDimension(Operation *op) {
  return op->emitOpError("reads from a dimension of size 0");
}

LogicalResult GatherOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &indices = inputs[1];
  const int64_t axis = getAxis();
  Shape shape(x.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  Tensor y = makeResult(getY(), shape, x.getElementType());
  const AxisView view(x.getShape(), axis);
  if (y.size() && view.size == 0)
    return reportEmptyDimension(*this);
  const int64_t bytes =
      storageBytes(RankedTensorType::get(x.getShape().drop_front(axis + 1), x.getElementType()));
  const std::vector<int64_t> places = loadAll<int64_t>(indices);
  char *result = y.mutableData();
  for (int64_t o = 0; o < view.outer && y.size(); ++o)
    for (int64_t index : places) {
      const int64_t place = clampIndex(index, view.size);
      std::memcpy(result, x.data() + (o * view.size + place) * bytes, bytes);
      result += bytes;
    }
  outputs.push_back(y);
  return success();
}

LogicalResult GatherElementsOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &indices = inputs[1];
  const int64_t axis = getAxis();
  Tensor y = makeResult(getY(), indices.getShape(), x.getElementType());
  const int64_t size = x.getShape()[axis];
  if (y.size() && x.size() == 0)
    return reportEmptyDimension(*this);
  const std::vector<int64_t> places = loadAll<int64_t>(indices);
  std::vector<int64_t> strides = rowMajorStrides(x.getShape());
  const int64_t step = std::exchange(strides[axis], 0);
  dispatchStorageType(y.getElement(), [&](auto zero) {
    using T = decltype(zero);
    const T *in = reinterpret_cast<const T *>(x.data());
    T *result = reinterpret_cast<T *>(y.mutableData());
    forEachRow(y.getShape(), {rowMajorStrides(y.getShape()), strides},
               [&](ArrayRef<int64_t> at, ArrayRef<int64_t> steps, int64_t count) {
                 for (int64_t i = 0; i < count; ++i) {
                   const int64_t place = clampIndex(places[at[0] + i], size);
                   result[at[0] + i] = in[at[1] + i * steps[1] + place * step];
                 }
               });
  });
  outputs.push_back(y);
  return success();
}

LogicalResult GatherNdOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &indices = inputs[1];
  const int64_t batchDims = getBatchDims(), depth = indices.getShape().back();
  Shape shape(indices.getShape().drop_back());
  llvm::append_range(shape, x.getShape().drop_front(batchDims + depth));
  Tensor y = makeResult(getY(), shape, x.getElementType());
  if (y.size() && x.size() == 0)
    return reportEmptyDimension(*this);
  const int64_t batches = multiplyDims(x.getShape().take_front(batchDims));
  const int64_t tuples = multiplyDims(indices.getShape().drop_back());
  const int64_t perBatch = batches ? tuples / batches : 0;
  ArrayRef<int64_t> dims = x.getShape().slice(batchDims, depth);
  const int64_t bytes =
      multiplyDims(x.getShape().drop_front(batchDims + depth)) * elementBytes(x.getElementType());
  const std::vector<int64_t> values = loadAll<int64_t>(indices);
  for (int64_t t = 0; t < tuples && y.size(); ++t) {
    int64_t place = t / perBatch;
    for (int64_t d = 0; d < depth; ++d)
      place = place * dims[d] + clampIndex(values[t * depth + d], dims[d]);
    std::memcpy(y.mutableData() + t * bytes, x.data() + place * bytes, bytes);
  }
  outputs.push_back(y);
  return success();
}

template <typename C> static C applyReduction(ScatterReduction reduction, C old, C update) {
  switch (reduction) {
  case ScatterReduction::none:
    return update;
  case ScatterReduction::add:
    return wrapAdd(old, update);
  case ScatterReduction::mul:
    return wrapMul(old, update);
  case ScatterReduction::max:
    return maxOf(old, update);
  case ScatterReduction::min:
    return minOf(old, update);
  }
  return update;
}

/// Returns x after a scatter: writes or combines runs of `length` updates at the offsets `places`,
/// in order. Each element is rounded once, after all updates.
static Tensor scatter(Operation *op, const Tensor &x, const Tensor &updates,
                      ArrayRef<int64_t> places, int64_t length, ScatterReduction reduction) {
  Tensor y = makeResult(op->getResult(0), x.getShape(), x.getElementType());
  dispatchComputeType(y.getElement(), [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> values = loadAll<C>(x), news = loadAll<C>(updates);
    for (auto [u, place] : llvm::enumerate(places))
      for (int64_t i = 0; i < length; ++i)
        values[place + i] = applyReduction(reduction, values[place + i], news[u * length + i]);
    storeAll<C>(y, values);
  });
  return y;
}

LogicalResult ScatterElementsOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &indices = inputs[1], &updates = inputs[2];
  const int64_t axis = getAxis();
  const std::vector<int64_t> values = loadAll<int64_t>(indices);
  const std::vector<int64_t> strides = rowMajorStrides(x.getShape());
  std::vector<int64_t> places;
  places.reserve(values.size());
  LogicalResult result = success();
  forEachIndex(indices.getShape(), [&](const std::vector<int64_t> &index) {
    int64_t place = 0;
    for (int64_t d = 0; d < x.getRank() && succeeded(result); ++d) {
      const int64_t wanted = d == axis ? values[places.size()] : index[d];
      FailureOr<int64_t> at = checkScatterIndex(*this, wanted, x.getShape()[d]);
      if (failed(at))
        result = failure();
      else
        place += *at * strides[d];
    }
    places.push_back(place);
  });
  if (failed(result))
    return failure();
  outputs.push_back(scatter(*this, x, updates, places, 1, getReduction()));
  return success();
}

LogicalResult ScatterNdOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &indices = inputs[1], &updates = inputs[2];
  const int64_t depth = indices.getShape().back();
  const int64_t tuples = multiplyDims(indices.getShape().drop_back());
  const int64_t length = multiplyDims(x.getShape().drop_front(depth));
  const std::vector<int64_t> values = loadAll<int64_t>(indices);
  std::vector<int64_t> places;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t place = 0;
    for (int64_t d = 0; d < depth; ++d) {
      FailureOr<int64_t> at = checkScatterIndex(*this, values[t * depth + d], x.getShape()[d]);
      if (failed(at))
        return failure();
      place = place * x.getShape()[d] + *at;
    }
    places.push_back(place * length);
  }
  if (updates.size() != tuples * length)
    return emitOpError("(C1) needs ") << tuples * length << " updates, found " << updates.size();
  outputs.push_back(scatter(*this, x, updates, places, length, getReduction()));
  return success();
}

} // namespace dlc

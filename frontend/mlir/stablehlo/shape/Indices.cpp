//===- Indices.cpp - index tuples of gathers and scatters ----------------------------===//
#include "frontend/mlir/stablehlo/shape/Indices.h"

#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {

IndexVectors::IndexVectors(Build &b, Value indices, int64_t vectorDim) : vectorDim(vectorDim) {
  indices = castToIndexType(b, indices);
  const int64_t rank = b.rank(indices);
  if (!b.require(vectorDim >= 0 && vectorDim <= rank, "index_vector_dim: required: 0 to " +
                                                          Twine(rank) +
                                                          "; found: " + Twine(vectorDim)))
    return;
  // If the indices have no dimension for the vectors, each element is a vector of one component.
  if (vectorDim == rank)
    indices = b.expandDims(indices, rank);
  Dims order = otherDims(b.rank(indices), {vectorDim});
  order.push_back(vectorDim);
  all = b.transpose(indices, order);
  batch = b.dims(all);
  if (b.ok())
    batch.pop_back();
}

Value IndexVectors::component(Build &b, int64_t i) const {
  return b.at(all, int64_t(batch.size()), i);
}

Value indexTuples(Build &b, ArrayRef<int64_t> batch, ArrayRef<IndexedDim> dims,
                  ArrayRef<Value> starts) {
  // Dimensions of the result: the batch dimensions, then one for each slice dimension of more than
  // one element.
  Dims shape = batch.vec();
  for (const IndexedDim &d : dims)
    if (d.size > 1)
      shape.push_back(d.size);
  Type element = b.i64;
  for (Value start : starts)
    element = start ? b.elem(start) : element;
  const int64_t rank = int64_t(shape.size());
  int64_t window = int64_t(batch.size());
  Values tuple;
  for (auto [d, start] : llvm::zip(dims, starts)) {
    Value index;
    if (start) {
      Dims padded = batch.vec();
      padded.resize(size_t(rank), 1);
      index = b.reshape(start, padded);
    } else if (d.batch >= 0) {
      Dims along(size_t(rank), 1);
      along[d.batch] = batch[d.batch];
      index = b.iota(element, along, d.batch);
    }
    if (d.size > 1) {
      Dims along(size_t(rank), 1);
      along[window] = d.size;
      Value offsets = b.iota(element, along, window++);
      index = index ? b.add(index, offsets) : offsets;
    }
    if (!index)
      index = b.splat(element, Dims(size_t(rank), 1), 0);
    tuple.push_back(b.expandDims(b.broadcast(index, shape), rank));
  }
  return b.concat(tuple, rank);
}

Dims otherDims(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists) {
  Dims result;
  for (int64_t d = 0; d < rank; ++d)
    if (llvm::none_of(lists, [&](ArrayRef<int64_t> list) { return llvm::is_contained(list, d); }))
      result.push_back(d);
  return result;
}

} // namespace dlc::stablehlo
